"""Text files: spreadsheets, exports, compressions, and what people do to them."""

import bz2
import gzip
import lzma
import zipfile

import pandas as pd
import pyarrow as pa
from tests.inputs.cases import case
from tests.inputs.people import PEOPLE

NODES = {"label_column": "role"}


def csv(folder, frame, name, **options):
    frame.to_csv(folder / name, index=False, **options)
    return folder / name


def edges(folder):
    return csv(folder, PEOPLE.edges, "edges.csv")


@case()
def excel_export(folder):
    nodes = csv(folder, PEOPLE.nodes, "n.csv", sep=";", decimal=",", encoding="utf-8-sig", lineterminator="\r\n")
    weighted = PEOPLE.edges.assign(weight=1.0)
    links = csv(folder, weighted, "e.csv", sep=";", decimal=",", encoding="utf-8-sig", float_format="%.2f")
    return {"edges": links, "nodes": nodes, **NODES}


@case()
def thousands_separators(folder):
    frame = PEOPLE.nodes.assign(age=[None if pd.isna(age) else f"{1000 * age:,.0f}" for age in PEOPLE.nodes.age])
    return {"edges": edges(folder), "nodes": csv(folder, frame, "n.csv"), **NODES}


@case()
def leading_zeros(folder):
    def number(names):
        return names.str.replace("u", "0")

    frame = PEOPLE.nodes.assign(id=number(PEOPLE.nodes.id))
    links = PEOPLE.edges.apply(number)
    return {"edges": csv(folder, links, "e.csv"), "nodes": csv(folder, frame, "n.csv"), **NODES}


@case(sentence="ids lost their leading zeros: '0' here, '000' there; write both columns as text with the same zeros")
def lost_zeros(folder, cured):
    links = PEOPLE.edges.apply(lambda names: names.str.removeprefix("u"))
    numbers = PEOPLE.nodes.id.str.removeprefix("u")
    frame = PEOPLE.nodes.assign(id=numbers if cured else numbers.astype(int))
    return {"edges": csv(folder, links, "e.csv"), "nodes": csv(folder, frame, "n.csv"), **NODES}


@case()
def pandas_index(folder):
    PEOPLE.edges.to_csv(folder / "e.csv")
    PEOPLE.nodes.to_csv(folder / "n.csv")
    return {"edges": folder / "e.csv", "nodes": folder / "n.csv", **NODES}


@case("graph")
def snap_edges(folder):
    lines = ["# Directed graph: people.txt", "# FromNodeId\tToNodeId", *map("\t".join, PEOPLE.edges.to_numpy())]
    (folder / "people.txt").write_text("\n".join(lines) + "\n")
    return {"edges": folder / "people.txt", "labels": csv(folder, PEOPLE.labels, "l.csv")}


@case("graph")
def edges_twice_and_to_themselves(folder):
    both = pd.concat([PEOPLE.edges, PEOPLE.edges.rename(columns={"source": "target", "target": "source"})])
    own = pd.DataFrame({"source": PEOPLE.ids[:20], "target": PEOPLE.ids[:20]})
    return {"edges": csv(folder, pd.concat([both, own]), "e.csv"), "labels": csv(folder, PEOPLE.labels, "l.csv")}


@case()
def bars_and_blanks(folder):
    lines = [" | ".join("" if pd.isna(cell) else str(cell) for cell in row) for row in PEOPLE.nodes.to_numpy()]
    (folder / "n.dat").write_text("\n".join([" | ".join(PEOPLE.nodes.columns), *lines]) + "\n")
    return {"edges": edges(folder), "nodes": folder / "n.dat", **NODES}


@case()
def gaps_of_all_kinds(folder):
    gaps = ["", "NA", "n/a", "NULL", "-", "?", "nan"]
    age = [gaps[k % len(gaps)] if pd.isna(cell) else cell for k, cell in enumerate(PEOPLE.nodes.age)]
    return {"edges": edges(folder), "nodes": csv(folder, PEOPLE.nodes.assign(age=age), "n.csv"), **NODES}


@case(sentence="1 of the missing values are cells that are no numbers, such as 'about forty'")
def mixed_types(folder, cured):
    age = PEOPLE.nodes.age.astype(object)
    age.iloc[5] = None if cured else "about forty"
    return {"edges": edges(folder), "nodes": csv(folder, PEOPLE.nodes.assign(age=age), "n.csv"), **NODES}


@case()
def german_dates(folder):
    dates = pd.to_datetime(PEOPLE.nodes.joined).dt.strftime("%d.%m.%Y")
    return {"edges": edges(folder), "nodes": csv(folder, PEOPLE.nodes.assign(joined=dates), "n.csv"), **NODES}


@case()
def timestamps_with_a_zone(folder):
    dates = PEOPLE.nodes.joined + "T00:00:00+00:00"
    return {"edges": edges(folder), "nodes": csv(folder, PEOPLE.nodes.assign(joined=dates), "n.csv"), **NODES}


@case(sentence="is not UTF-8; save the file as UTF-8")
def latin_1(folder, cured):
    frame = PEOPLE.nodes.assign(city=PEOPLE.nodes.city.replace("Bonn", "Köln"))
    nodes = csv(folder, frame, "n.csv", encoding="utf-8" if cured else "latin-1")
    return {"edges": edges(folder), "nodes": nodes, **NODES}


@case(sentence="the file is UTF-16 text; save it as UTF-8")
def utf_16(folder, cured):
    nodes = csv(folder, PEOPLE.nodes, "n.csv", encoding="utf-8" if cured else "utf-16")
    return {"edges": edges(folder), "nodes": nodes, **NODES}


@case()
def lines_inside_of_cells(folder):
    about = PEOPLE.nodes.about.str.replace(" word", "\r\n\n word", n=1)
    return {"edges": edges(folder), "nodes": csv(folder, PEOPLE.nodes.assign(about=about), "n.csv"), **NODES}


@case(sentence="differ in case or blanks only; write them in the same way")
def roles_in_several_spellings(folder, cured):
    role = PEOPLE.nodes.role.where(PEOPLE.nodes.index % 2 == 0, PEOPLE.nodes.role.str.upper())
    frame = PEOPLE.nodes.assign(role=role.str.lower() if cured else role)
    return {"edges": edges(folder), "nodes": csv(folder, frame, "n.csv"), **NODES}


@case(sentence="'unknown' is read as a class, of 180 nodes; pass unlabelled=['unknown']")
def a_word_for_no_role(folder, cured):
    nodes = csv(folder, PEOPLE.nodes.fillna({"role": "unknown"}), "n.csv")
    return {"edges": edges(folder), "nodes": nodes, **NODES, **({"unlabelled": ["unknown"]} if cured else {})}


@case(sentence="duplicate node id, first seen in line 2")
def people_twice(folder, cured):
    frame = pd.concat([PEOPLE.nodes, PEOPLE.nodes.head(3)])
    frame = frame.drop_duplicates("id") if cured else frame
    return {"edges": edges(folder), "nodes": csv(folder, frame, "n.csv"), **NODES}


@case(sentence="the id is empty; every record needs one")
def a_row_without_an_id(folder, cured):
    frame = pd.concat([PEOPLE.nodes, pd.DataFrame({"id": [None], "city": ["Rome"]})])
    frame = frame.dropna(subset="id") if cured else frame
    return {"edges": edges(folder), "nodes": csv(folder, frame, "n.csv"), **NODES}


@case()
def vectors_beside_names_and_numbers_that_say_nothing(folder):
    names = [f"person number{k}" for k in range(len(PEOPLE.ids))]
    frame = PEOPLE.nodes.assign(name=names, account_id=range(5000, 5000 + len(names)), empty=None)
    return {"edges": edges(folder), "nodes": csv(folder, frame, "n.csv"), **NODES}


def compressed(folder, suffix, compress):
    paths = {}
    for role, frame in (("edges", PEOPLE.edges), ("nodes", PEOPLE.nodes)):
        paths[role] = folder / f"{role}.csv.{suffix}"
        paths[role].write_bytes(compress(frame.to_csv(index=False).encode()))
    return {**paths, **NODES}


@case()
def gzip_files(folder):
    return compressed(folder, "gz", gzip.compress)


@case()
def bzip2_files(folder):
    return compressed(folder, "bz2", bz2.compress)


@case()
def xz_files(folder):
    return compressed(folder, "xz", lzma.compress)


@case()
def zstd_files(folder):
    def compress(text):
        with pa.BufferOutputStream() as sink:
            with pa.CompressedOutputStream(sink, "zstd") as stream:
                stream.write(text)
            return sink.getvalue().to_pybytes()

    return compressed(folder, "zst", compress)


@case(sentence="the zip archive has 2 files: edges.csv, nodes.csv; extract the one to read")
def zip_archives(folder, cured):
    paths = {}
    for role, frame in (("edges", PEOPLE.edges), ("nodes", PEOPLE.nodes)):
        paths[role] = folder / f"{role}.zip"
        members = {"edges.csv": PEOPLE.edges, "nodes.csv": PEOPLE.nodes} if not cured else {f"{role}.csv": frame}
        with zipfile.ZipFile(paths[role], "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(name, content.to_csv(index=False))
    return {**paths, **NODES}


@case(sentence="the file is a spreadsheet; save the sheet as CSV")
def excel_workbook(folder, cured):
    if cured:
        return {"edges": edges(folder), "nodes": csv(folder, PEOPLE.nodes, "n.csv"), **NODES}
    with zipfile.ZipFile(folder / "n.xlsx", "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.xml", "<workbook/>")
    return {"edges": edges(folder), "nodes": folder / "n.xlsx", **NODES}


@case()
def csv_parts_by_a_pattern(folder):
    for number, start in enumerate(range(0, len(PEOPLE.nodes), 50)):
        csv(folder, PEOPLE.nodes.iloc[start : start + 50], f"people-{number}.csv")
    return {"edges": edges(folder), "nodes": folder / "people-*.csv", **NODES}
