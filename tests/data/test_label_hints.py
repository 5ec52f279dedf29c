"""Labels as people write them: variants of one class, words for no class, and numbers in their order."""

import pytest

import planetoid as pl
from planetoid.data.issues import find_issues
from planetoid.data.label_hints import label_hints
from planetoid.data.summary import count
from planetoid.errors import PlanetoidWarning
from planetoid.labels import encode


@pytest.fixture
def read(tmp_path):
    def data(labels, **options):
        edges = tmp_path / "e.csv"
        edges.write_text("source,target\n" + "".join(f"n{k},n{k + 1}\n" for k in range(len(labels))))
        path = tmp_path / "l.csv"
        path.write_text("id,label\n" + "".join(f"n{k},{label}\n" for k, label in enumerate(labels)))
        return pl.read_dataset(edges, labels=path, **options)

    return data


def test_classes_that_differ_in_case_or_blanks_only(read):
    with pytest.warns(PlanetoidWarning, match=r"the classes 'Art' \(2\) and 'art' \(1\) differ in case or blanks only"):
        read(["Art", "Art", "art", "chess"])
    assert [one.hint for one in label_hints({"a b": 1, "A  b": 1}, None)] == ["write them in the same way"]


def test_a_word_for_no_class_is_a_class_until_it_is_said_not_to_be(read):
    with pytest.warns(PlanetoidWarning) as caught:
        data = read(["x", "NA", "y", "NA"])
    assert str(caught[0].message).endswith(
        "l.csv: 'NA' is read as a class, of 2 nodes; pass unlabelled=['NA'] if it means that the label is unknown"
    )
    assert data.class_names == ("NA", "x", "y")
    assert read(["x", "NA", "y", "NA"], unlabelled=["NA"]).y.tolist() == [0, -1, 1, -1, -1]


def test_classes_of_one_node(read):
    data = read(["x", "x", "y"])
    (sentence,) = [text for text in find_issues(data, count(data)) if "single" in text]
    assert sentence.startswith("Classes with a single label: 'y'; no accuracy can be measured for them")


def test_numeric_classes_sort_as_numbers():
    assert encode(["10", "9", "none", "1.5", "-2"])[1].tolist() == ["-2", "1.5", "9", "10", "none"]
    assert encode(["2000s", "b", "a"])[1].tolist() == ["2000s", "a", "b"]


def test_numbers_beside_words_in_a_file(read):
    assert read(["10", "9", "9", "other"]).class_names == ("9", "10", "other")
