"""Every count of the authors' files, and the traps in them."""

import numpy as np
import pytest

import planetoid as pl
from planetoid.datasets.pickles import read_pickle

# nodes, features, classes, classes that occur, adjacency entries, distinct edges, labelled, validation, test
COUNTS = {
    "cora": (2_708, 1_433, 7, 7, 10_858, 5_278, 140, 500, 1_000),
    "citeseer": (3_327, 3_703, 6, 6, 9_464, 4_552, 120, 500, 1_000),
    "pubmed": (19_717, 500, 3, 3, 88_676, 44_324, 60, 500, 1_000),
    "nell-0.1": (65_755, 5_414, 210, 105, 532_288, 125_775, 1_054, 0, 848),
    "nell-0.01": (65_755, 5_414, 210, 105, 532_288, 125_775, 161, 0, 987),
    "nell-0.001": (65_755, 5_414, 210, 105, 532_288, 125_775, 105, 0, 969),
}


@pytest.fixture(scope="module")
def loaded(data_root):
    views = ("ind", "trans")
    return {(name, view): pl.datasets.load(name, root=data_root, view=view) for name in COUNTS for view in views}


@pytest.mark.parametrize("name", COUNTS)
def test_counts(loaded, name):
    for view in ("ind", "trans"):
        data = loaded[name, view]
        split = data.split("public")
        found = (
            data.n_nodes,
            data.n_features,
            data.n_classes,
            len(np.unique(data.y[data.y >= 0])),
            data.graph.summary.entries,
            data.graph.n_edges,
            len(split.train),
            len(split.val) if view == "ind" else COUNTS[name][7],
            len(split.test),
        )
        assert found == COUNTS[name]
        assert data.X.dtype == np.float32
        assert data.X.has_canonical_format
        # the paper's edge count is half of the adjacency entries: repeats counted
        assert pl.datasets.info(name).paper_edges * 2 == data.graph.summary.entries


@pytest.mark.parametrize(
    ("name", "loops", "repeated"),
    [("cora", 0, 151), ("citeseer", 124, 56), ("pubmed", 3, 11), ("nell-0.1", 0, 140_369)],
)
def test_the_papers_edge_count_is_explained(loaded, name, loops, repeated):
    """Each edge stands in the file once from either end; the paper counts repeats and loops too."""
    summary = loaded[name, "ind"].graph.summary
    assert (summary.self_loops, summary.duplicates) == (2 * loops, 2 * repeated)
    assert summary.edges + loops + repeated == pl.datasets.info(name).paper_edges


@pytest.mark.parametrize("name", COUNTS)
def test_both_views_are_the_same_problem(loaded, name):
    ind, trans = loaded[name, "ind"], loaded[name, "trans"]
    a, b = ind.split("public"), trans.split("public")
    for rows, others in ((a.train, b.train), (a.test, b.test)):
        assert (ind.X[rows] != trans.X[others]).nnz == 0
        assert (ind.y[rows] == trans.y[others]).all()
    assert (ind.y[a.train] >= 0).all()
    assert (ind.y[a.test] >= 0).all()
    assert np.array_equal(np.sort(ind.graph.degrees), np.sort(trans.graph.degrees))


@pytest.mark.parametrize(("name", "reached"), [("cora", 2_654), ("citeseer", 2_948), ("pubmed", 19_717)])
def test_both_views_are_the_same_graph(data_root, loaded, name, reached):
    """Neighbours stand in the same order in both files, so labelled and test nodes lead to all they reach."""
    ind, trans = (read_pickle(data_root / "planetoid" / f"{view}.{name}.graph") for view in ("ind", "trans"))
    a, b = loaded[name, "ind"].public, loaded[name, "trans"].public
    match = dict(zip([*b.train.tolist(), *b.test.tolist()], [*a.train.tolist(), *a.test.tolist()], strict=True))
    waiting = list(match)
    while waiting:
        node = waiting.pop()
        assert len(trans[node]) == len(ind[match[node]])
        for here, there in zip(trans[node], ind[match[node]], strict=True):
            if here not in match:
                match[here] = there
                waiting.append(here)
            assert match[here] == there
    assert len(match) == len(set(match.values())) == reached


def test_repeats_can_count(loaded, data_root):
    counted = pl.datasets.load("cora", root=data_root, repeats="count").graph
    plain = loaded["cora", "ind"].graph
    assert np.array_equal(counted.indices, plain.indices)
    assert counted.weights.sum() == 10_858
    assert counted.weights.max() > 1


def test_classes_have_twenty_labels_each(loaded):
    for name in ("cora", "citeseer", "pubmed"):
        data = loaded[name, "ind"]
        assert np.bincount(data.y[data.public.train]).tolist() == [20] * data.n_classes
    one_each = loaded["nell-0.001", "ind"]  # "0.001" is one label a class
    counts = np.bincount(one_each.y[one_each.public.train], minlength=210)
    assert sorted(counts.tolist()) == [0] * 105 + [1] * 105


def test_validation_rows_follow_the_labelled_ones(loaded):
    for name in ("cora", "citeseer", "pubmed"):
        split = loaded[name, "ind"].public
        n = len(split.train)
        assert split.val.tolist() == list(range(n, n + 500))
        assert len(loaded[name, "trans"].public.val) == 0


def test_citeseer_traps(loaded):
    data = loaded["citeseer", "ind"]
    components = data.graph.components()
    assert components.max() + 1 == 438
    assert (data.graph.degrees == 0).sum() == 48
    nothing = np.flatnonzero(np.diff(data.X.indptr) == 0)
    assert len(nothing) == 15  # ids in neither allx nor test.index
    assert (data.y[nothing] == -1).all()
    assert np.array_equal(nothing, np.flatnonzero(data.y < 0))
    lit = np.isin(components, components[data.public.train])
    assert (~lit[data.public.test]).sum() == 310


def test_cora_and_its_bundled_copy_are_the_same_papers(loaded):
    ours, theirs = pl.datasets.load("cora-bundled"), loaded["cora", "ind"]
    assert ours.graph.n_edges == theirs.graph.n_edges == 5_278
    for name in ours.class_names:  # sizes of all seven classes differ, so this checks the names
        sizes = [(data.y == data.class_names.index(name)).sum() for data in (ours, theirs)]
        assert sizes[0] == sizes[1]
    assert sorted(np.diff(ours.X.indptr)) == sorted(np.diff(theirs.X.indptr))


def test_nell_is_bipartite_entities_and_relation_sides(loaded, data_root):
    """830 relation sides and 64,925 entities: what docs/construct.md says."""
    graph = pl.datasets.load("nell-0.1", root=data_root, repeats="count").graph
    has_words = np.diff(loaded["nell-0.1", "ind"].X.indptr) > 0
    assert has_words.sum() == 9_891
    source = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    touch = np.unique(graph.indices[has_words[source]])
    side = np.full(graph.n_nodes, -1)
    side[has_words], side[touch] = 0, 1
    order = np.argsort(graph.degrees, kind="stable")
    for start in [None, *order]:  # components without words: the node of the lowest degree is an entity
        if start is not None:
            if side[start] >= 0:
                continue
            side[start] = 0
        spread(graph, side)
        if (side >= 0).all():
            break
    assert (side[source] != side[graph.indices]).all()
    assert (side == 1).sum() == 830
    triples = graph.strengths[side == 1]
    assert triples.sum() == 266_144
    assert (np.unique(triples, return_counts=True)[1] % 2 == 0).all()  # r_1 and r_2 meet equally many triples


def test_repeats_are_counted_in_nell_and_merged_elsewhere(loaded, data_root):
    nell = loaded["nell-0.01", "ind"].graph
    assert (nell.weights.sum(), nell.weights.max()) == (532_288, 1_558)
    assert all(loaded[name, "ind"].graph.weights is None for name in ("cora", "citeseer", "pubmed"))
    merged = pl.datasets.load("nell-0.01", root=data_root, repeats="merge").graph
    assert merged.weights is None
    np.testing.assert_array_equal(merged.indices, nell.indices)
    counted = pl.datasets.load("cora", root=data_root, repeats="count").graph
    assert counted.weights.sum() == 10_858


def spread(graph, side):
    """Colour the neighbours of coloured nodes until nothing changes."""
    source = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    while True:
        new = (side[source] >= 0) & (side[graph.indices] < 0)
        if not new.any():
            return
        side[graph.indices[new]] = 1 - side[source[new]]


def test_print_tells_the_counts(loaded):
    text = str(loaded["pubmed", "ind"])
    for count in ("19,717", "44,324", "88,676", "500", "60 labelled", "1,000 test"):
        assert count in text
    assert repr(loaded["nell-0.1", "ind"]) == (
        "Dataset('nell-0.1', nodes=65,755, edges=125,775, features=5,414, classes=210)"
    )
    assert "210, 105 with labels" in str(loaded["nell-0.1", "ind"])


def test_truly_unseen(loaded):
    data = loaded["cora", "ind"]
    seen = data.without(data.public.test)
    assert seen.n_nodes == 1_708
    assert len(seen.public.test) == 0
    assert np.array_equal(seen.y[seen.public.train], data.y[data.public.train])
    assert np.array_equal(seen.parent_rows[seen.public.val], data.public.val)
    assert not np.isin(data.public.test, seen.parent_rows).any()
    assert (seen.rows_from_parent(data.public.test) == -1).all()
    assert (data.X[seen.parent_rows] != seen.X).nnz == 0
    whole = data.graph.to_scipy()[seen.parent_rows][:, seen.parent_rows]
    assert (seen.graph.to_scipy() != whole).nnz == 0
