"""What a user calls: anonymize for tables, solve for codes. Every release is verified before it leaves."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ldiv.algorithms import get
from ldiv.asking import DEFAULT_ALGORITHM, Asked
from ldiv.constraints import compose
from ldiv.engines import Sources, Written, anonymize_frame, anonymize_query, is_query, is_spark, run
from ldiv.privacy.principles import Principle
from ldiv.privacy.requirement import asked
from ldiv.release.release import Release
from ldiv.table.coarsening import Bins
from ldiv.table.contingency import Contingency
from ldiv.table.domain import NO_SENSITIVE
from ldiv.table.files.numbers import require_decimal
from ldiv.table.microdata import Microdata

__all__ = ["anonymize", "anonymize_files", "solve"]


def anonymize(
    frame: Any,
    qi: Sequence[str],
    sensitive: str | Sequence[str] | None = None,
    l: int | None = None,
    *,
    k: int = 1,
    algorithm: str = DEFAULT_ALGORITHM,
    star: str | None = "*",
    domains: Mapping[str, Any] | None = None,
    seed: int | None = None,
    missing: str | Mapping[str, str] | None = None,
    weights: Mapping[str, int] | None = None,
    coarsen: Mapping[str, int | Bins] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    order: str = "keep",
    shuffle: bool = False,
    drop: Sequence[Any] = (),
    only_named: bool = False,
    star_is_null: bool = False,
    unit: Any = None,
    **options: Any,
) -> Release:
    """Publish a table so that in every group of rows with equal published QI values at most 1/l share an SA value, and there are at least k.

    Parameters
    ----------
    frame : pandas or polars DataFrame, pyarrow Table, dict of str to array, DuckDB relation, polars LazyFrame, or Spark DataFrame
        The microdata; never changed. Of a Spark DataFrame only the distinct combinations of quasi-identifiers and sensitive values are collected;
        ``release.frame`` is a persisted DataFrame of the same session, its rows in an order of what is published, and there is no group of a row. A relation, and a LazyFrame with ``order="random"``, runs once into a
        file, from which DuckDB makes the release in a file that the query given back reads; both are in the folder of temporary files.
    qi : sequence of str
        Quasi-identifier columns: what an adversary may know.
    sensitive : str or sequence of str, optional
        The sensitive column; left out (with `l`), only k is kept: k-anonymity. It is published as it is. Of several columns each is l-diverse in every group: the release for the first is made, and groups
        in which another is not are merged.
    l : int
        At least 1. The largest feasible one is :func:`ldiv.max_l`.
    k : int, default 1
        The least size of a group, in rows (with `unit`, in persons); says nothing up to l, since an l-diverse group has l rows. Algorithms keep it from the
        start, which costs far fewer stars than merging groups afterwards (``also=[ldiv.KAnonymity(k)]``).
    algorithm : str
        A name from :func:`ldiv.algorithms`. The default takes ``effort="fast"``, ``"default"`` or ``"best"`` and ``time_limit=`` as options.
    star : str or None, default "*"
        What a suppressed cell shows; None writes a null and keeps the column's dtype (whole numbers become the library's nullable ones). Refused
        where a star could be taken for a value of its column.
    domains : mapping, optional
        Declared domains; see :meth:`ldiv.Microdata.from_frame`.
    seed : int, optional
        Repeats what is left to chance: ties of algorithms that break them at random when asked, which of several interchangeable rows is
        starred, and a random order. A secret: whoever knows it can undo that chance. Default: ties by code, the rest from fresh randomness.
    missing : optional
        What to do with missing values; see :meth:`ldiv.Microdata.from_frame`.
    weights : mapping of str to int, optional
        What a star costs in a column, 1 where not given; ``release.cost`` is then what is minimised. TP, TP+ and Hilbert do not look at it.
    coarsen : mapping of str to int or Bins, optional
        Columns to publish on a higher level of their hierarchy, or as intervals, before anything is starred; see :func:`ldiv.coarsen`.
    hierarchies : mapping of str to hierarchy, optional
        Trees above the values of a column: files in the format of ARX, nested dicts, rows, Bins in cascade such as ``[Bins(5), Bins(10), Bins(20)]``, or
        ``"auto"`` for ordered columns; see :meth:`ldiv.Hierarchy.of`. Each group then publishes the lowest node above its values, the root as a star
        (the default, ``lagrangian``, ``cascade``, TP, TP+), or sub-domains (TDS, Mondrian, multidim). Also for `coarsen`.
    order : {"keep", "random"}
        The order of the published rows. In a sorted table the neighbours of a star give it away: ``"keep"`` measures that and warns
        (:class:`ldiv.errors.DisclosureWarning`), ``"random"`` publishes in an order that depends on chance alone, without the index.
    shuffle : bool
        True is the same as ``order="random"``.
    drop : sequence of columns, optional
        Columns to leave out of the release.
    only_named : bool
        Leave out every column that is neither quasi-identifier nor sensitive.
    unit : column, optional
        Which person a row belongs to, where a person may have several. All rows of a person are then published alike, and in every group at most 1/l
        of the rows and at most 1/l of the persons share an SA value; a person counts once for each value that its rows hold. Only algorithms that
        publish values and stars. Leave the column itself out with `drop` unless it is a mere number: it tells which rows are one person's.
    star_is_null : bool
        Allow ``star=None`` in columns that have missing values.
    **options
        ``protect=`` and ``also=`` as in :func:`solve`; the others are passed to the algorithm, such as ``loss=`` along hierarchies.

    Returns
    -------
    Release
        ``release.frame`` is the published table: same kind, rows, order, index and columns; only QI cells change. It is built and verified
        (:func:`ldiv.verify`) before the call returns, so later changes of `frame` do not reach it; it takes as much memory as the table.
        ``release.publication`` says what it tells beside its cells.

    Raises
    ------
    NotEligibleError
        No l-diverse release exists; names the value, its count and the largest feasible l.
    InputError
        Unusable columns, values, l or algorithm name.
    UnsafeReleaseError
        The release failed its verification and is withheld.

    Notes
    -----
    Cost and guarantee are the algorithm's; see ``ldiv.list_algorithms()[name]``. Rows alike in QI and SA are interchangeable:
    which of them is starred is left to chance, everything else depends on the table alone.

    Examples
    --------
    >>> import ldiv
    >>> table = {"Age": [30, 30, 40, 50], "Disease": ["flu", "cold", "flu", "cough"]}
    >>> release = ldiv.anonymize(table, qi=["Age"], sensitive="Disease", l=2)
    >>> release.frame["Age"].tolist(), release.stars
    (['30', '30', '*', '*'], 2)
    >>> ldiv.anonymize(table, qi=["Age"], k=2).stars
    2
    """
    what = Asked(
        qi,
        sensitive,
        l,
        k,
        algorithm,
        star,
        domains,
        seed,
        missing,
        weights,
        coarsen,
        hierarchies,
        order,
        shuffle,
        drop,
        only_named,
        star_is_null,
        unit,
        options,
    )
    if is_spark(frame):
        return anonymize_frame(what, frame)
    release = anonymize_query(what, frame) if is_query(frame) else None
    return what.anonymize(frame) if release is None else release


def anonymize_files(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    target: str | os.PathLike[str],
    qi: Sequence[str],
    sensitive: str | Sequence[str] | None = None,
    l: int | None = None,
    *,
    k: int = 1,
    engine: str = "auto",
    memory_limit: int | str | None = None,
    threads: int | None = None,
    spill: str | os.PathLike[str] | None = None,
    session: Any = None,
    algorithm: str = DEFAULT_ALGORITHM,
    star: str | None = "*",
    domains: Mapping[str, Any] | None = None,
    seed: int | None = None,
    missing: str | Mapping[str, str] | None = None,
    weights: Mapping[str, int] | None = None,
    coarsen: Mapping[str, int | Bins] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    drop: Sequence[Any] = (),
    only_named: bool = False,
    star_is_null: bool = False,
    unit: Any = None,
    delimiter: str | None = None,
    names: Sequence[str] | None = None,
    na: str = "",
    decimal: str = ".",
    progress: Callable[[str], None] | None = None,
    **options: Any,
) -> Written:
    """Publish files of any size: :func:`anonymize` from files to files, with the same stars and groups whatever engine does it.

    Parameters
    ----------
    source : path or sequence of paths
        Parquet: a file, a folder, a pattern such as ``"parts/*.parquet"``, folders named ``year=2020`` included (their columns are text); or CSV and TSV
        files with one header, also packed with gzip or zstd, whose values are texts as they stand (columns of numbers are found). Never changed.
    target : path
        A ``.parquet``, ``.csv`` or ``.tsv`` file, or a folder of Parquet files, which must not hold anything yet. It appears whole, at the end and
        after it has been verified, or not at all.
    qi, sensitive, l, k
        As in :func:`anonymize`.
    engine : {"auto", "memory", "duckdb", "spark"}
        ``"auto"``: memory where the table takes at most a quarter of it, else DuckDB. Spark reads and writes Parquet alone.
    memory_limit : int or str, optional
        Bytes, or text such as ``"1GB"``: what the process may take, as far as that can be kept to; half of the machine's memory by default.
    threads : int, optional
        Of the engine, and of an algorithm that takes it.
    spill : path, optional
        Where DuckDB puts what does not fit; beside the target by default.
    session : SparkSession, optional
        The session to use; without, the active one, or a local one that is stopped afterwards.
    algorithm, star, domains, seed, missing, weights, coarsen, hierarchies, drop, only_named, star_is_null, unit
        As in :func:`anonymize`. DuckDB and Spark do not take `unit`, and coarsen only quasi-identifiers and sensitive columns.
    delimiter, names, na, decimal
        Of text files: the separator, column names where there is no header line, the text that means a missing value, and what stands before the
        fractions of numbers, ``"."`` or ``","``.
    progress : callable, optional
        Called with a line of text before each step.
    **options
        As in :func:`anonymize`.

    Returns
    -------
    Written
        ``.release`` (of cells: its rows are in the files), ``.verdict``, ``.engine``, ``.seconds``; true where all went well.

    Raises
    ------
    NotEligibleError, InputError, UnsafeReleaseError
        As :func:`anonymize`; besides a damaged file, one whose columns or types differ from the others', no room on the disk, too little memory, a
        source that changed meanwhile, a target that is there. No part of the target is left.

    Notes
    -----
    The engine reads the source twice, to count the distinct combinations of quasi-identifiers and sensitive values and to write what becomes of each row,
    and the target once, to verify it: what stands in it is counted anew, and a checker that trusts nothing finds for every row of the source a released
    row of its own, and every group l-diverse. Between the two stands the algorithm, on the cells, in memory: some 200 bytes each. Rows alike in quasi-
    identifiers and sensitive values are interchangeable; which of them is starred is decided by a digest of the row under a secret. Rows are written in an
    order that depends on what is published and on nothing else.

    Examples
    --------
    >>> import ldiv, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "people.csv").write_text("Age,Disease\\n30,flu\\n30,cold\\n40,flu\\n50,cough\\n")
    >>> written = ldiv.anonymize_files(folder / "people.csv", folder / "out.csv", ["Age"], "Disease", l=2, engine="duckdb")
    >>> written.release.stars, sorted((folder / "out.csv").read_text().split())
    (2, ['*,cough', '*,flu', '30,cold', '30,flu', 'Age,Disease'])
    """
    if threads is not None and "threads" in get(algorithm).options:
        options["threads"] = threads
    what = Asked(
        qi,
        sensitive,
        l,
        k,
        algorithm,
        star,
        domains,
        seed,
        missing,
        weights,
        coarsen,
        hierarchies,
        "random",
        False,
        drop,
        only_named,
        star_is_null,
        unit,
        options,
    )
    require_decimal(decimal)
    sources = Sources.of(source, delimiter=delimiter, names=names, na=na)
    return run(
        sources,
        target,
        what,
        engine=engine,
        memory_limit=memory_limit,
        threads=threads,
        spill=spill,
        session=session,
        names=names,
        progress=progress,
        adapt=partial(what.with_numbers, decimal=decimal) if sources.is_text else None,
    )


def solve(
    data: Microdata | Contingency,
    l: int | None = None,
    *,
    k: int = 1,
    algorithm: str = DEFAULT_ALGORITHM,
    seed: int | None = None,
    protect: Sequence[str] | Mapping[str, int] = (),
    also: Sequence[Principle] = (),
    **options: Any,
) -> Release:
    """Anonymise codes: the same as :func:`anonymize` without a dataframe.

    Parameters
    ----------
    data : Microdata or Contingency
    l : int
        At least 1; left out where the table has no sensitive attribute.
    k : int, default 1
        The least size of a group.
    algorithm : str
    seed : int, optional
    protect : sequence of str, or mapping of str to int, optional
        QI columns that are never starred; impossible where some combination of their values is not l-eligible by itself, which is an error.
    also : sequence of Principle, optional
        What every QI-group must satisfy beside l-diversity, for instance ``[ldiv.KAnonymity(10)]``; see :mod:`ldiv.privacy.principles`.
    **options
        Passed to the algorithm. A table may have taxonomies (:meth:`ldiv.Microdata.with_hierarchies`): TDS and Mondrian follow them in any case, the other
        algorithms that can with ``nodes=True``, which :func:`anonymize` adds where it is given hierarchies.

    Returns
    -------
    Release
        ``release.codes`` has shape (n, d), int32, with -1 for a star.

    Raises
    ------
    NotEligibleError, InputError, UnsafeReleaseError
        As :func:`anonymize`.

    Notes
    -----
    Verification costs O(n) and cannot be switched off.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.Microdata.from_codes([[0, 0], [0, 0], [1, 0], [1, 1]], [0, 1, 0, 1])
    >>> ldiv.solve(data, l=2).codes.tolist()
    [[0, 0], [0, 0], [1, -1], [1, -1]]
    """
    l, k = asked(getattr(data, "sensitive_domain", None) != NO_SENSITIVE, l, k)
    return compose([data], l, get(algorithm), k=k, seed=seed, protect=protect, also=also, **options).drawn(seed)
