"""The cells of the tables against the paper's values and protocols."""

import pytest

from planetoid.experiments import paper
from planetoid.experiments.printed import departures
from planetoid.experiments.tables import BEYOND, display_name, quick_cell, table3, table4, table5
from planetoid.registry import METHODS


def test_every_value_of_the_paper_has_a_cell():
    for cells, values in ((table3(), paper.TABLE_3), (table5(), paper.TABLE_5)):
        expected = {(method, data, value) for method, row in values.items() for data, value in row.items()}
        assert expected <= {(cell.method, cell.dataset, cell.paper) for cell in cells}
    assert {(cell.method, cell.paper) for cell in table4("0.1")} == {
        *paper.TABLE_4.items(),
        ("mad", None),
        ("lgc", None),
    }


def test_manireg_is_the_network_and_its_kernel_forms_have_rows_of_their_own():
    cells = [cell for cell in (*table3(), *table5(), *table4("0.1")) if cell.method == "manireg"]
    for cell in cells:
        model = METHODS["manireg"]().set_params(**cell.parameters)
        assert (model.kind == "network") == (cell.row.settings != "kernel"), cell
    assert {cell.dataset for cell in cells if cell.row.settings == "kernel"} >= {"cora", "nell-0.1"}


def test_the_papers_propagation_is_in_every_table():
    for cells in (table3(), table4("0.1"), table5()):
        assert {"lp", "mad", "lgc"} <= {cell.method for cell in cells}


def test_every_table_has_a_row_of_the_system_as_printed():
    for method in ("planetoid-t", "planetoid-i", "planetoid-g"):
        for parameters in (cell.parameters for cell in table4("0.1") if cell.row.settings == "printed"):
            assert parameters["contexts__single_pairs"]
        assert [cell.row.settings for cell in table4("0.1") if cell.method == method] == ["printed", "half a minute"]
    for cell in (*table3(), *table5()):
        if cell.row.settings == "printed":
            assert cell.row.stopping == "fixed"
            assert departures(cell.method, cell.parameters, cell.parameters) == []


def test_planetoid_i_is_shown_under_every_protocol_of_the_field():
    rows = {(cell.section, *cell.row[1:]) for cell in table3() if cell.method == "planetoid-i"}
    for section in ("public split", "random splits"):
        for stopping in ("fixed", "validation"):
            assert (section, "paper", stopping, "unseen") in rows
            assert (section, "tuned", stopping, "features only") in rows
    assert all(cell.protocol.setting == "unseen" for cell in table3() if cell.method in ("manireg", "semiemb"))


def test_table_3_ends_with_the_default_model_in_every_setting_beside_a_gcn():
    sections = [cell.section for cell in table3()]
    assert sections[-1] == BEYOND
    rows = [tuple(cell.row) for cell in table3() if cell.section == BEYOND and cell.dataset == "cora"]
    assert rows == [
        ("Planetoid", "defaults", "validation", "in the graph"),
        ("Planetoid", "defaults", "fixed", "in the graph"),
        ("Planetoid", "defaults", "fixed", "features only"),
        ("Planetoid", "defaults", "fixed", "unseen"),
        ("Planetoid", "defaults", "fixed", "in the graph, no features"),
        ("GCN", "defaults", "validation", "in the graph"),
        ("GCN", "defaults", "fixed", "in the graph"),
    ]
    assert all(not cell.parameters and cell.paper is None for cell in table3() if cell.section == BEYOND)


@pytest.mark.parametrize("make_table", [table3, lambda: table4("0.01"), table5], ids=["table3", "table4", "table5"])
def test_quick_cells_have_small_budgets(make_table):
    budgets = {"steps": 30, "passes": 2}
    for cell in map(quick_cell, make_table()):
        model = METHODS[cell.method]().set_params(**cell.parameters)
        used = {name.rpartition("__")[2]: value for name, value in model.get_params(deep=True).items()}
        assert all(used.get(name, value) == value for name, value in budgets.items())
        assert used.get("pretrain", 1) in (1, 0.1)


def test_a_method_without_a_name_in_the_paper_is_shown_by_its_class(monkeypatch):
    monkeypatch.delitem(display_name.__globals__["PAPER_NAMES"], "lp")
    assert display_name("lp") == "LabelPropagation"
