"""Data sets by name: the table that ships, and loaders of others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ldiv.datasets import acs, census, external, vldb06
from ldiv.datasets.census import occ, sal
from ldiv.errors import InputError
from ldiv.table.microdata import Microdata

__all__ = ["Dataset", "available", "load", "load_frame", "occ", "sal"]


@dataclass(frozen=True)
class Dataset:
    """A data set as `available` lists it.

    Attributes
    ----------
    name : str
    about : str
        One line: rows, attributes, licence.
    load : callable
        ``load(sensitive, qi, **options) -> Microdata``.
    frame : callable
        ``frame(**options) -> dict of str to array`` of readable values.
    """

    name: str
    about: str
    load: Callable[..., Microdata]
    frame: Callable[..., dict[str, Any]]


_DATASETS = {
    "acs2018": Dataset(
        "acs2018",
        "248,381 workers of the 2018 American Community Survey, 7 QI + Income, Occupation; public domain; ships",
        acs.load,
        acs.frame,
    ),
    "sal": Dataset("sal", "n=600,000 rows like the paper's SAL: 7 QI + Income; drawn from a model fitted to acs2018", sal, census.frame),
    "occ": Dataset("occ", "n=600,000 rows like the paper's OCC: 7 QI + Occupation; drawn from the same model", occ, census.frame),
    "pums": Dataset("pums", "ACS PUMS person files of your own, recoded as acs2018", external.pums, external.pums_frame),
    "ipums": Dataset("ipums", "an IPUMS USA extract of your own, the paper's source", external.ipums, external.ipums_frame),
    "vldb06": Dataset("vldb06", "SAL or OCC of Anatomy's authors, files of your own; 7 QI + salary or occupation", vldb06.load, vldb06.frame),
    "adult": Dataset("adult", "UCI Adult, a file of your own; occupation", external.adult, external.adult_frame),
}


def available() -> dict[str, Dataset]:
    """The data sets by name.

    Examples
    --------
    >>> import ldiv
    >>> "acs2018" in ldiv.datasets.available()
    True
    """
    return dict(_DATASETS)


def load(name: str, *, sensitive: str | None = None, qi: Sequence[str] | None = None, **options: Any) -> Microdata:
    """A data set as Microdata with its declared domains.

    Parameters
    ----------
    name : str
        See :func:`available`.
    sensitive : str, optional
        The sensitive attribute; each data set has a default.
    qi : sequence of str, optional
        Which QI attributes, in which order; default all.
    **options
        What the data set takes (``n=``, ``seed=``, ``path=`` ...).

    Returns
    -------
    Microdata

    Raises
    ------
    InputError
        Unknown name or attribute.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.datasets.load("acs2018", sensitive="Occupation", qi=["Age", "Gender"])
    >>> data.n, data.d, data.m
    (248381, 2, 50)
    """
    return _get(name).load(sensitive=sensitive, qi=qi, **options)


def load_frame(name: str, **options: Any) -> dict[str, Any]:
    """A data set as a dict of arrays with readable values, for dataframes and files.

    Parameters
    ----------
    name : str
    **options
        What the data set takes.

    Returns
    -------
    dict of str to ndarray
        Pass it to ``pandas.DataFrame`` or ``polars.DataFrame``, or to :func:`ldiv.anonymize` as it is.

    Examples
    --------
    >>> import ldiv
    >>> table = ldiv.datasets.load_frame("acs2018")
    >>> str(table["Education"][0])
    "Associate's degree"
    """
    return _get(name).frame(**options)


def _get(name: str) -> Dataset:
    if name not in _DATASETS:
        raise InputError(f"no data set {name!r}; there are: {', '.join(sorted(_DATASETS))}")
    return _DATASETS[name]
