"""What a user calls: anonymize for tables, solve for codes. Every release is verified before it leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ldiv.algorithms import get, list_algorithms
from ldiv.arguments import shown
from ldiv.constraints import compose, compose_persons
from ldiv.errors import InputError, MissingColumnError
from ldiv.privacy.persons import persons_of
from ldiv.privacy.principles import Principle
from ldiv.privacy.requirement import asked
from ldiv.release.publish import publish
from ldiv.release.release import Release
from ldiv.table.coarsening import Bins
from ldiv.table.coarsening import coarsen as coarsen_frame
from ldiv.table.contingency import Contingency
from ldiv.table.domain import NO_SENSITIVE
from ldiv.table.frames import named, open_frame
from ldiv.table.microdata import Microdata

__all__ = ["anonymize", "solve"]

DEFAULT_ALGORITHM = "auto"


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
    frame : pandas or polars DataFrame, pyarrow Table, or dict of str to array
        The microdata; never changed.
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
    l, k = asked(sensitive is not None, l, k)
    for name, given in (("domains", domains), ("weights", weights), ("coarsen", coarsen), ("hierarchies", hierarchies)):
        if given is not None and not isinstance(given, Mapping):
            raise InputError(f"{name} must be a mapping from column to what it takes, not {shown(given)} ({type(given).__name__})")
    for name, flag in (("shuffle", shuffle), ("only_named", only_named), ("star_is_null", star_is_null)):
        if not isinstance(flag, (bool, np.bool_)):
            raise InputError(f"{name} must be True or False, not {shown(flag)}")
    original = open_frame(frame)
    source = open_frame(coarsen_frame(original, coarsen, hierarchies)) if coarsen else original
    for name in hierarchies or {}:
        if name not in source.columns:
            raise InputError(f"hierarchies: {MissingColumnError(name, source.columns)}")
    trees = {name: tree for name, tree in (hierarchies or {}).items() if name not in (coarsen or {})}
    if trees:
        chosen = get(algorithm)
        if chosen.generalises:
            options.setdefault("nodes", True)
        elif chosen.suppression:
            raise InputError(
                f"hierarchies: algorithm {algorithm!r} publishes values and stars only; publish columns on a level of theirs by coarsen=, or choose one of "
                f"{', '.join(repr(name) for name, x in list_algorithms().items() if x.generalises or not x.suppression)}"
            )

    def microdata(name: Any) -> Microdata:
        data = Microdata.from_frame(source, qi, name, domains=domains, missing=missing, keep=False).with_hierarchies(trees)
        return data.weighted(weights) if weights else data

    targets = [] if sensitive is None else named(sensitive, source.columns, "sensitive")
    if not targets and sensitive is not None:
        raise InputError("sensitive is empty: name at least one sensitive column")
    persons = None
    if unit is not None:
        persons = persons_of(source, unit, [*named(qi, source.columns, "qi"), *targets])
        release = compose_persons([microdata(name) for name in targets or [None]], persons, l, get(algorithm), k=k, seed=seed, **options)
    elif len(targets) < 2:
        release = solve(microdata(targets[0] if targets else None), l, k=k, algorithm=algorithm, seed=seed, **options)
    else:
        release = compose([microdata(name) for name in targets], l, get(algorithm), k=k, seed=seed, **options)
    return publish(
        release.drawn(seed),
        source,
        frame,
        targets,
        star=star,
        order="random" if shuffle else order,
        drop=named(drop, source.columns, "drop"),
        only_named=only_named,
        star_is_null=star_is_null,
        hierarchies=hierarchies,
        persons=persons,
    )


def solve(
    data: Microdata | Contingency,
    l: int | None = None,
    *,
    k: int = 1,
    algorithm: str = DEFAULT_ALGORITHM,
    seed: int | None = None,
    protect: Sequence[str] = (),
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
    protect : sequence of str, optional
        QI columns that are never starred; impossible where some combination of their values is not l-eligible by itself, which is an error.
    also : sequence of Principle, optional
        What every QI-group must satisfy beside l-diversity, for instance ``[ldiv.KAnonymity(10)]``; see :mod:`ldiv.privacy.principles`.
    **options
        Passed to the algorithm.

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
