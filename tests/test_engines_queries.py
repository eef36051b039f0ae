"""Queries of DuckDB and polars: a release of what they give, of the same kind, without their rows as a table."""

import pyarrow as pa
import pytest
from test_engines import SENSITIVE, people, published, same_release

import ldiv
from ldiv.table import frames

duckdb = pytest.importorskip("duckdb")
pl = pytest.importorskip("polars")
QI = ["age", "town", "born"]


def query(kind, table):
    return duckdb.from_arrow(table).project("*") if kind == "relation" else pl.from_arrow(table).lazy()


def rows_of(frame):
    return frame.to_arrow_table() if isinstance(frame, duckdb.DuckDBPyRelation) else frame.collect().to_arrow()


@pytest.fixture
def uncollected(monkeypatch):
    """Whoever takes the rows of a query as a table is found."""

    def refuse(*_, **__):
        raise AssertionError("the rows were fetched")

    monkeypatch.setattr(frames.Collected, "__init__", refuse)
    monkeypatch.setattr(pl.LazyFrame, "collect", refuse)
    for name in ("fetchall", "df", "pl", "fetchnumpy"):
        if hasattr(duckdb.DuckDBPyRelation, name):
            monkeypatch.setattr(duckdb.DuckDBPyRelation, name, refuse)
    yield
    monkeypatch.undo()


@pytest.mark.parametrize("kind", ["relation", "lazy"])
@pytest.mark.parametrize(
    "asked",
    [{}, {"k": 7}, {"algorithm": "mondrian"}, {"coarsen": {"age": ldiv.Bins(width=3)}}, {"drop": ["word"]}, {"star": None, "star_is_null": True}],
    ids=lambda asked: ",".join(asked),
)
def test_a_query_is_released_as_one_and_its_rows_are_never_fetched(kind, asked, request, tmp_path):
    table = people()
    asked = {"algorithm": "cascade", **asked}
    alone = ldiv.anonymize(table, QI, SENSITIVE, 3, order="random", **asked)
    given = query(kind, table)
    request.getfixturevalue("uncollected")
    release = ldiv.anonymize(given, QI, SENSITIVE, 3, order="random", **asked)
    request.getfixturevalue("monkeypatch").undo()
    assert type(release.frame) is type(given) and same_release(alone, release)
    assert release.publication.verdict.stars == alone.publication.verdict.stars or asked.get("star", "*") is None
    out = rows_of(release.frame)
    assert out.column_names == [name for name in table.column_names if name not in asked.get("drop", [])]
    assert published(out) == published(pa.table(alone.frame))
    assert ldiv.verify(table.drop_columns(asked.get("drop", [])), out, QI, SENSITIVE, 3, k=asked.get("k", 1), star=asked.get("star", "*"))


def test_an_order_that_is_kept_and_persons_need_the_rows():
    table = people(40)
    kept = ldiv.anonymize(pl.from_arrow(table).lazy(), ["age"], SENSITIVE, 2, algorithm="tp").frame.collect()
    assert kept["id"].to_list() == list(range(40))
    persons = ldiv.anonymize(duckdb.from_arrow(table), ["age"], SENSITIVE, 2, algorithm="tp", unit="id")
    assert persons.publication.verdict.persons == 40


def test_what_is_wrong_with_a_query_is_said_as_of_a_table():
    with pytest.raises(ldiv.InputError, match="no column 'nobody'"):
        ldiv.anonymize(duckdb.from_arrow(people(40)), ["nobody"], SENSITIVE, 2)
    with pytest.raises(ldiv.NotEligibleError):
        ldiv.anonymize(pl.from_arrow(people(40)).lazy(), ["age"], SENSITIVE, 40, order="random")


def test_nothing_is_left_of_a_query_that_fails(tmp_path, monkeypatch):
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(ldiv.NotEligibleError):
        ldiv.anonymize(duckdb.from_arrow(people(40)), ["age"], SENSITIVE, 40)
    assert not list(tmp_path.iterdir())
    release = ldiv.anonymize(duckdb.from_arrow(people(40)), ["age"], SENSITIVE, 2)
    assert [path.name for path in tmp_path.rglob("*.parquet")] == ["released.parquet"]
    assert len(rows_of(release.frame)) == 40
