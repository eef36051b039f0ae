"""Microdata: a table as codes. The door at which input is checked once; everything behind it trusts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldiv.arguments import MOST_VALUES, hint, shown
from ldiv.errors import InputError
from ldiv.table import frames
from ldiv.table.arrays import frozen, narrowest, seal, whole
from ldiv.table.coarsening import hierarchy_over
from ldiv.table.contingency import Contingency
from ldiv.table.domain import NO_SENSITIVE, Domain
from ldiv.table.html import short, table_html
from ldiv.table.text import merge_alike

__all__ = ["Domain", "Microdata"]

SHOWN = 12  # quasi-identifiers that a short text names
MISSING_POLICIES = ("value", "error")
MISSING_DEFAULT = {"qi": "value", "sensitive": "error"}


@dataclass(frozen=True, eq=False, repr=False)
class Microdata:
    """A table of d quasi-identifiers and one sensitive attribute, as integer codes.

    Build one with :meth:`from_frame` or :meth:`from_codes`. Everything is checked when one is built, however that is done, and its arrays cannot be
    written to; arrays that others can write to are copied.

    Attributes
    ----------
    sensitive : ndarray of int32, shape (n,)
        SA codes.
    domains : tuple of Domain, length d
    sensitive_domain : Domain
    source : object or None
        The frame the codes came from; never changed.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.Microdata.from_codes([[0, 1], [0, 1], [1, 1]], [0, 1, 2])
    >>> data.n, data.d, data.m
    (3, 2, 3)
    """

    codes: NDArray[np.int32]
    sensitive: NDArray[np.int32]
    domains: tuple[Domain, ...]
    sensitive_domain: Domain
    source: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        domains, target = tuple(self.domains) if isinstance(self.domains, Sequence) else (), self.sensitive_domain
        if not domains or not all(isinstance(x, Domain) for x in domains) or not isinstance(target, Domain):
            raise InputError(f"domains must be a sequence of Domain and sensitive_domain a Domain, not {shown(self.domains)} and {shown(target)}")
        target.as_sensitive()
        codes = whole(self.narrow, "codes", low=0, high=MOST_VALUES - 1, dtype=None, shape=(None, len(domains)), order="F", own=False)
        if len(codes) > MOST_VALUES:
            raise InputError(f"a table may have at most {MOST_VALUES:,} rows, not {len(codes):,}: count them into a Contingency")
        sensitive = whole(self.sensitive, "sensitive", low=0, high=MOST_VALUES - 1, dtype=np.int32, shape=(len(codes),))
        for column, domain in [*zip(codes.T, domains, strict=True), (sensitive, target)]:
            _checked(column, domain)
        self.__dict__.update(narrow=frozen(codes, narrowest(x.size for x in domains), "F"), sensitive=sensitive, domains=domains)

    @property
    def narrow(self) -> NDArray[Any]:
        """QI codes as they are kept, uint8, uint16 or int32, shape (n, d), Fortran order: a byte or two each where all domains fit. Mind that sums and
        differences of such numbers wrap; `codes` are the same as int32."""
        found: NDArray[Any] = self.__dict__["narrow"]
        return found

    @property
    def n(self) -> int:
        """Rows."""
        return int(self.narrow.shape[0])

    @property
    def d(self) -> int:
        """QI attributes."""
        return int(self.narrow.shape[1])

    def _with(self, **changes: Any) -> Microdata:
        return replace(self, **{"codes": self.narrow, **changes})

    @property
    def m(self) -> int:
        """Size of the sensitive domain."""
        return self.sensitive_domain.size

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the QI attributes."""
        return tuple(domain.name for domain in self.domains)

    def __repr__(self) -> str:
        names = ", ".join(map(short, self.names[:SHOWN])) + (f" and {self.d - SHOWN} more" if self.d > SHOWN else "")
        return f"<Microdata {self.n:,} rows, QI {names}; sensitive {short(self.sensitive_domain.name)}, {self.m:,} values>"

    def _repr_html_(self) -> str:
        """The attributes and their domains, for notebooks."""
        rows = [
            (x.name, role, x.size, "yes" if x.ordered else "no")
            for role, xs in (("QI", self.domains), ("sensitive", [self.sensitive_domain]))
            for x in xs
        ]
        return table_html(f"Microdata: {self.n:,} rows", ["attribute", "role", "values", "ordered"], rows)

    @cached_property
    def contingency(self) -> Contingency:
        """The distinct (QI, SA) cells; built on first use, O(n) for packed keys."""
        return Contingency.from_microdata(self)

    def project(self, attributes: Sequence[int | str]) -> Microdata:
        """The same rows with only some QI attributes (by position or name), in the order given.

        Raises
        ------
        InputError
            No attribute, one that there is not, or one named twice.
        """
        names, picked = list(self.names), []
        for a in [attributes] if isinstance(attributes, str) else attributes:
            position = isinstance(a, (int, np.integer)) and not isinstance(a, bool) and 0 <= a < self.d
            if not position and (not isinstance(a, Hashable) or a not in names):
                raise InputError(f"project: {shown(a)} is not a quasi-identifier; there are: {', '.join(map(repr, names))}{hint(a, names)}")
            picked.append(int(a) if position else names.index(a))  # type: ignore[arg-type]
        if not picked or len(set(picked)) < len(picked):
            raise InputError(f"project: name at least one quasi-identifier, each at most once, not {shown(attributes)}")
        return replace(self, codes=np.asfortranarray(self.narrow[:, picked]), domains=tuple(self.domains[j] for j in picked))

    def weighted(self, weights: Mapping[str, int]) -> Microdata:
        """The same table where a star in the named attributes costs more than 1.

        Raises
        ------
        InputError
            A name that is not a QI attribute, or a weight that is not a whole number of at least 1.
        """
        for name in weights:
            if name not in self.names:
                raise InputError(f"weights: {name!r} is not a quasi-identifier; there are: {', '.join(map(repr, self.names))}")
        domains = tuple(replace(x, weight=weights.get(x.name, x.weight)) for x in self.domains)
        return self._with(domains=domains)

    def with_sensitive(self, sensitive: NDArray[np.int32], domain: Domain) -> Microdata:
        """The same rows with another sensitive attribute."""
        return self._with(sensitive=sensitive, sensitive_domain=domain)

    def with_hierarchies(self, hierarchies: Mapping[str, Any]) -> Microdata:
        """The same table with a taxonomy for each QI attribute that has a hierarchy, given as :func:`ldiv.anonymize` takes them; see ``nodes=`` of
        :func:`ldiv.solve`."""

        def grown(j: int, x: Domain) -> Domain:
            labels = [x.label(code) for code in range(x.size)]
            tree = hierarchy_over(hierarchies[x.name], labels, self.rows_by_value(j), x.ordered, x.name)
            return replace(x, taxonomy=tree.taxonomy(labels, x.name))

        domains = tuple(grown(j, x) if x.name in hierarchies else x for j, x in enumerate(self.domains))
        return self._with(domains=domains)

    def rows_by_value(self, attribute: int) -> NDArray[np.int64]:
        """How many rows have each value of a QI attribute."""
        return np.bincount(self.narrow[:, attribute], minlength=self.domains[attribute].size)

    def head(self, n: int) -> Microdata:
        """The first n rows, with the same domains."""
        return Microdata(np.asfortranarray(self.narrow[:n]), self.sensitive[:n], self.domains, self.sensitive_domain, None)

    @classmethod
    def from_codes(
        cls,
        codes: ArrayLike,
        sensitive: ArrayLike | None = None,
        sizes: Sequence[int] | None = None,
        *,
        names: Sequence[str] | None = None,
        sensitive_name: str = "sensitive",
        domains: Sequence[Domain] | None = None,
        sensitive_domain: Domain | None = None,
    ) -> Microdata:
        """Microdata from integer codes.

        Parameters
        ----------
        codes : array_like of int, shape (n, d)
            QI codes, each in ``0 .. size - 1``.
        sensitive : array_like of int, shape (n,), optional
            SA codes; without, the table is one for k-anonymity alone.
        sizes : sequence of int, length d or d + 1, optional
            Domain sizes, the sensitive attribute's last if given. Default: the largest code seen plus one.
        names : sequence of str, optional
            QI names; default ``A1 .. Ad``.
        sensitive_name : str
        domains, sensitive_domain : optional
            Full domains instead of sizes and names.

        Returns
        -------
        Microdata

        Raises
        ------
        InputError
            Naming the attribute, row and code that does not fit.
        """
        try:
            array = np.asarray(codes)
            target = np.zeros(len(array) if array.ndim else 0, dtype=np.int32) if sensitive is None else np.asarray(sensitive)
        except ValueError as error:
            raise InputError(f"codes must be a table of integers, all rows of one length, and sensitive a list of them: {error}") from None
        if sensitive is None:
            sensitive_domain = NO_SENSITIVE
        for name, given in (("sizes", sizes), ("names", names), ("domains", domains)):
            if given is not None and (isinstance(given, (str, bytes)) or not hasattr(given, "__len__")):
                raise InputError(f"{name} must be a sequence with an entry for each attribute, not {shown(given)}")
        for domain in [*(domains or []), *([] if sensitive_domain is None else [sensitive_domain])]:
            if not isinstance(domain, Domain):
                raise InputError(f"domains must be Domain objects, not {shown(domain)}")
        if array.ndim != 2 or array.shape[1] == 0:
            raise InputError(f"codes must have shape (n, d) with d >= 1, not {array.shape}")
        if target.shape != (array.shape[0],):
            raise InputError(f"sensitive must have shape ({array.shape[0]},) to match codes, not {target.shape}")
        n, d = array.shape
        if domains is None:
            names = [f"A{j + 1}" for j in range(d)] if names is None else list(names)
            if len(names) != d:
                raise InputError(f"{len(names)} names for {d} attributes")
            if sizes is not None and len(sizes) not in (d, d + 1):
                raise InputError(f"sizes must have {d} entries (or {d + 1} with the sensitive one), not {len(sizes)}")
            domains = [Domain(name, sizes[j] if sizes is not None else _seen_size(array[:, j], name)) for j, name in enumerate(names)]
            if sensitive_domain is None:
                declared = sizes is not None and len(sizes) == d + 1
                size = sizes[d] if declared and sizes is not None else _seen_size(target, sensitive_name)
                sensitive_domain = Domain(sensitive_name, size)
        elif len(domains) != d:
            raise InputError(f"{len(domains)} domains for {d} attributes")
        if sensitive_domain is None:
            sensitive_domain = Domain(sensitive_name, _seen_size(target, sensitive_name))
        packed = np.empty((n, d), dtype=narrowest(x.size for x in domains), order="F")
        for j, domain in enumerate(domains):
            packed[:, j] = _checked(array[:, j], domain)
        sensitive = np.array(_checked(target, sensitive_domain), dtype=np.int32)
        seal(packed, sensitive)
        return cls(packed, sensitive, tuple(domains), sensitive_domain)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        qi: Sequence[str],
        sensitive: str | None = None,
        *,
        domains: Mapping[str, Any] | None = None,
        missing: str | Mapping[str, str] | None = None,
        keep: bool = True,
    ) -> Microdata:
        """Microdata from a pandas, polars or pyarrow table, or a dict of arrays.

        Codes follow the sorted order of the values, so they do not depend on the order of the rows. QI values are told apart by type, equality and
        text; sensitive values are one where anyone could take them as one: equal, printed alike, a missing one and empty text.

        Parameters
        ----------
        frame : DataFrame, Table or dict of str to array
            Never changed.
        qi : sequence of str
            The quasi-identifier columns.
        sensitive : str, optional
            The sensitive column; without, the table is one for k-anonymity alone.
        domains : mapping of str to int, sequence of values, or Domain, optional
            What is known of a column beyond what is seen: how many values it can take, or which.
        missing : {"value", "error"} or mapping with keys "qi" and "sensitive", optional
            ``"value"`` makes missing (None, NaN, NaT, null) one ordinary value; ``"error"`` refuses it. Default:
            value for QI columns, error for the sensitive one. The empty string is never missing, but counts as the same sensitive value.
        keep : bool
            Whether to keep a copy of the table, from which ``release.frame`` is made; it costs as much memory as the table (nothing for
            polars and pyarrow, whose columns cannot change).

        Returns
        -------
        Microdata

        Raises
        ------
        InputError
            Unknown, duplicated or overlapping columns, missing values where refused, values outside a declared domain.

        Notes
        -----
        O(n) per column plus a sort of its distinct values.

        Examples
        --------
        >>> import ldiv
        >>> table = {"Age": [30, 40, 30], "Disease": ["flu", "cold", "cold"]}
        >>> data = ldiv.Microdata.from_frame(table, qi=["Age"], sensitive="Disease")
        >>> data.codes.ravel().tolist(), data.sensitive_domain.labels
        ([0, 1, 0], ['cold', 'flu'])
        """
        policy = missing_policy(missing)
        declared = dict(domains or {})
        source = frames.open_frame(frame)
        qi = frames.named(qi, source.columns, "qi")
        _check_columns(source, qi, sensitive, declared)
        columns, found = [], []
        for name in qi:
            column, domain = _encode(source, name, policy["qi"], "qi", declared.get(name))
            columns.append(column.astype(narrowest([domain.size]), copy=False))
            found.append(domain)
        packed = np.empty((source.rows, len(qi)), dtype=narrowest(x.size for x in found), order="F")
        for j in range(len(qi)):
            packed[:, j], columns[j] = columns[j], columns[j][:0]
        target, sensitive_domain = np.zeros(source.rows, dtype=np.int32), NO_SENSITIVE
        if sensitive is not None:
            target, sensitive_domain = _encode(source, sensitive, policy["sensitive"], "sensitive", declared.get(sensitive))
        seal(packed, target)
        return cls(packed, target, tuple(found), sensitive_domain, source.snapshot() if keep else None)

    @classmethod
    def read_sensitive(
        cls, frame: Any, sensitive: str, missing: str | Mapping[str, str] | None = None, *, role: str = "sensitive"
    ) -> tuple[NDArray[np.int32], Domain]:
        """Only the sensitive column of a table: its codes and domain; or, with the role ``"unit"``, that of persons, which must all be known."""
        source = frames.open_frame(frame)
        given = frames.named(sensitive, source.columns, role)
        if len(given) != 1:
            raise InputError(f"{role} names {len(given)} columns: ask for one at a time")
        sensitive = given[0]
        if sensitive not in source.columns:
            raise source.lacks(sensitive)
        return _encode(source, sensitive, "error" if role == "unit" else missing_policy(missing)["sensitive"], role, None)


CODES = "QI codes, int32, shape (n, d), Fortran order: column by column in memory; made of `narrow` when first asked for."


def _codes(data: Microdata) -> NDArray[np.int32]:
    wide: NDArray[np.int32] | None = data.__dict__.get("_wide")
    if wide is None:
        wide = data.__dict__["_wide"] = frozen(data.narrow, np.dtype(np.int32), "F")
    return wide


def _keep(data: Microdata, codes: Any) -> None:
    data.__dict__["narrow"] = codes


setattr(Microdata, "codes", property(_codes, _keep, doc=CODES))  # noqa: B010 - a field whose array is made when asked for


def _seen_size(codes: NDArray[Any], name: str) -> int:
    if codes.size and codes.dtype.kind not in "iub":
        raise InputError(f"codes of {name!r} must be integers, not {codes.dtype}")
    if codes.size and not 0 <= int(codes.max()) < MOST_VALUES:
        raise InputError(f"codes of {name!r} must be at least 0 and less than {MOST_VALUES:,}, not {int(codes.max())}")
    return int(codes.max()) + 1 if codes.size else 1


def _checked(codes: NDArray[Any], domain: Domain) -> NDArray[np.int32]:
    if codes.size and codes.dtype.kind not in "iub":
        raise InputError(f"codes of {domain.name!r} must be integers, not {codes.dtype}")
    bad = np.flatnonzero((codes < 0) | (codes >= domain.size)) if codes.size else codes
    if len(bad):
        raise InputError(f"code {codes[bad[0]]} of {domain.name!r} in row {bad[0]} is outside its domain 0..{domain.size - 1}")
    return codes.astype(np.int32, copy=False)


def missing_policy(missing: str | Mapping[str, str] | None) -> dict[str, str]:
    if missing is None:
        given: Mapping[str, str] = {}
    elif isinstance(missing, str):
        given = {"qi": missing, "sensitive": missing}
    else:
        given = missing
    if not isinstance(given, Mapping):
        raise InputError(f'missing={missing!r}: use "value" or "error", or a mapping like {{"qi": "value", "sensitive": "error"}}')
    policy = {**MISSING_DEFAULT, **given}
    for role, choice in policy.items():
        if role not in MISSING_DEFAULT or choice not in MISSING_POLICIES:
            raise InputError(f'missing={missing!r}: use "value" or "error", or a mapping like {{"qi": "value", "sensitive": "error"}}')
    return policy


def _check_columns(source: frames.Source, qi: Sequence[str], sensitive: str | None, declared: Mapping[str, Any]) -> None:
    columns = source.columns
    doubled = sorted({str(c) for c in columns if list(columns).count(c) > 1}) if len(set(columns)) < len(columns) else []
    if doubled:
        raise InputError(f"column name {doubled[0]!r} stands twice in the table: rename one of them")
    for name in [*qi, *([] if sensitive is None else [sensitive]), *declared]:
        if name not in columns:
            raise source.lacks(name)
    if not qi:
        raise InputError("qi is empty: name at least one quasi-identifier column")
    twice = [name for name in qi if list(qi).count(name) > 1]
    if twice:
        raise InputError(f"column {twice[0]!r} is named twice in qi")
    if sensitive is not None and sensitive in qi:
        raise InputError(f"column {sensitive!r} cannot be both a quasi-identifier and the sensitive attribute")


def _encode(source: frames.Source, name: str, policy: str, role: str, declared: Any) -> tuple[NDArray[np.int32], Domain]:
    codes, labels, ordered = source.encode(name)
    absent = bool(labels) and labels[-1] is None
    if policy == "error" and absent:
        rows = np.flatnonzero(codes == len(labels) - 1)
        remedy = "say whose they are" if role == "unit" else f'pass missing={{"{role}": "value"}} to treat missing as a value'
        raise InputError(
            f"{len(rows):,} missing values in {'the sensitive ' if role == 'sensitive' else ''}column {name!r}, the first "
            f"in row {rows[0]}: remove those rows, or {remedy}"
        )
    if role in ("sensitive", "unit"):
        codes, labels = _merged(codes, labels)
    if declared is None:
        return codes, Domain(name, max(len(labels), 1), labels, ordered)
    if isinstance(declared, (int, np.integer)):
        if declared < len(labels):
            raise InputError(f"domain of {name!r} is declared with {declared} values but {len(labels)} are in the table")
        return codes, Domain(name, int(declared), labels, ordered)
    known = declared.labels if isinstance(declared, Domain) else list(declared)
    if known is None:
        if declared.size < len(labels):
            raise InputError(f"domain of {name!r} is declared with {declared.size} values but {len(labels)} are seen")
        return codes, Domain(name, declared.size, labels, declared.ordered)
    if role == "sensitive":
        first = merge_alike([*known, *labels])
        position = {value: int(code) for value, code in zip(labels, first[len(known) :], strict=True) if code < len(known)}
    else:
        position = {value: code for code, value in enumerate(known)}
    if len(set(map(repr, known)) if role == "sensitive" else position) < len(known):
        raise InputError(f"domain of {name!r} lists a value twice")
    outside = [value for value in labels if value not in position]
    if outside:
        raise InputError(f"value {outside[0]!r} of column {name!r} is not in its declared domain")
    recode = np.array([position[value] for value in labels], dtype=np.int32)
    if not isinstance(declared, Domain):
        declared = Domain(name, len(known), known, ordered)
    return (recode[codes] if len(labels) else codes), declared


def _merged(codes: NDArray[np.int32], labels: list[Any]) -> tuple[NDArray[np.int32], list[Any]]:
    """Sensitive values that anyone could take for one as one, under the first label."""
    if {type(label) for label in labels} in ({int}, {float}) and sum(label == 0 for label in labels) < 2:
        return codes, labels  # distinct numbers; of zeros there are two
    first = merge_alike(labels)
    kept, place = np.unique(first, return_inverse=True)
    if len(kept) == len(labels):
        return codes, labels
    return place.astype(np.int32)[codes], [labels[k] for k in kept]
