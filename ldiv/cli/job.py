"""From options to a table that was read and a request that fits it. Every option that does not apply is refused here, before any work."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from ldiv.algorithms import get, list_algorithms
from ldiv.arguments import LOSS
from ldiv.asking import Asked
from ldiv.cli.console import Voice, one_line
from ldiv.cli.options import Asking, Columns, Publishing, Reading, Sensitive, Solving, Whose
from ldiv.cli.words import coarsening, decimal_of, hierarchy_of, pairs, principle, size_of, whole
from ldiv.constraints import compose, compose_persons
from ldiv.constraints.several import joined
from ldiv.errors import DisclosureWarning, InputError, MissingColumnError
from ldiv.privacy.persons import persons_of
from ldiv.release.release import Release
from ldiv.table.coarsening import Bins, coarsen
from ldiv.table.contingency import Contingency
from ldiv.table.files import ColumnKind, Format, Opened, decide_all, descriptor, expand, open_table
from ldiv.table.files.dialect import require_delimiter
from ldiv.table.microdata import Microdata

__all__ = ["Request", "Source", "options_of"]

WITHOUT_WEIGHTS = ("tp", "tp+", "hilbert")  # minimise stars or rows whatever a star costs


class Source:
    """The table of a command, read as its options say.

    Attributes
    ----------
    table : pyarrow.Table
    domains : dict of str to Domain
        Of text columns that hold numbers.
    """

    def __init__(self, files: list[str], reading: Reading, columns: Columns | Sensitive, voice: Voice, *, others: list[str] | None = None) -> None:
        self.files, self.reading, self.voice = files, reading, voice
        self.qi: list[str] = list(getattr(columns, "qi", []))
        self.sensitive = list(columns.sensitive or [])
        self.targets: list[str | None] = [*self.sensitive] or [None]  # once for each sensitive column, or once without
        streams = [path for path in [*files, *(others or [])] if descriptor(path, 0) == 0]
        if len(streams) > 1:
            raise InputError("standard input can be read once only")
        if len(set(self.sensitive)) < len(self.sensitive):
            raise InputError("a sensitive column is named twice")
        self.inputs = [*files, *(part for path in files for part in expand(path)), *(others or [])]
        self.limit = size_of(reading.unpack_limit)
        self.na = "" if reading.na is None else reading.na
        self.decimal = decimal_of(reading)

    def read(self, *, writes_text: bool = False, typed: bool = True) -> Any:
        """Read the table, and refuse options that do not apply to it: `writes_text` is whether a text file comes out, `typed` whether it makes a
        difference which columns are numbers."""
        reading = self.reading
        if reading.delimiter is not None:
            require_delimiter(reading.delimiter)
        names = None if reading.names is None else reading.names.split(",")
        with self.voice.progress(f"reading {self.files[0]}"):
            self.opened: Opened = open_table(self.files, delimiter=reading.delimiter, names=names, na=self.na, unpack_limit=self.limit)
        self.table = self.opened.table
        if self.opened.remark:
            self.voice.say(f"{self.opened.name}: {self.opened.remark}")
        for option, value in (("--numeric", reading.numeric), ("--text", reading.text)):
            if value and not typed:
                raise InputError(f"{option} does not apply: values are compared as they stand here")
            if value and not self.opened.format.is_text:
                raise InputError(f"{option} is for text files; the columns of {self.opened.format} have types")
            for name in value or []:
                self.require(name, option)
                if name not in [*self.qi, *self.sensitive]:
                    raise InputError(f"{option} {name!r}: it is neither a quasi-identifier nor a sensitive column, so that it makes no difference")
        if reading.decimal is not None and not self.opened.format.is_text:
            raise InputError(f"--decimal is for text files; the columns of {self.opened.format} have types")
        for option, given in (("--delimiter", reading.delimiter), ("--na", reading.na)):
            if given is not None and not writes_text and not self.opened.format.is_text:
                raise InputError(f"{option} is for text files, and there is none")
        both = set(reading.numeric or []) & set(reading.text or [])
        if both:
            raise InputError(f"column {sorted(both)[0]!r} is named by --numeric and by --text")
        for name in [*self.qi, *self.sensitive]:
            self.require(name, None)
        return self.table

    def take(self, table: Any, shape: Format) -> None:
        """A table that something else has read."""
        self.table, self.opened = table, Opened(table, self.files[0], shape, None, tuple(self.inputs))
        for name in [*self.qi, *self.sensitive]:
            self.require(name, None)

    def require(self, name: str, option: str | None) -> None:
        """The table has that column."""
        if name in self.table.column_names:
            return
        error = MissingColumnError(name, self.table.column_names)
        raise error if option is None else InputError(f"{option}: {error}")

    def require_unit(self, unit: str | None) -> None:
        """The column of --unit is there and is neither a quasi-identifier nor sensitive."""
        if unit is None:
            return
        self.require(unit, "--unit")
        if unit in (*self.qi, *self.sensitive):
            raise InputError(f"--unit {unit!r}: a column that is -q or -s cannot say whose a row is")

    @property
    def missing(self) -> dict[str, str]:
        return {"qi": self.reading.missing_qi, "sensitive": self.reading.missing_sensitive}

    def kinds(self, *, but: Mapping[str, Any] | None = None, say: bool = True) -> dict[str, ColumnKind]:
        """What the text columns hold, and say so; `but` are columns that become other texts before anything looks at them."""
        if not self.opened.format.is_text:
            return {}
        names = [name for name in [*self.qi, *self.sensitive] if name not in (but or {})]
        found = dict(decide_all(self.table, dict.fromkeys(names), self.reading.numeric or [], self.reading.text or [], self.decimal))
        if say and found:
            commas = " with decimal commas" if self.decimal == "," else ""
            self.voice.say(f"columns read{commas} as " + "; ".join(one_line(str(kind)) for kind in found.values()))
        return found

    def domains(self, *, but: Mapping[str, Any] | None = None, say: bool = True) -> dict[str, Any]:
        """The declared domains of text columns that hold numbers."""
        return {name: kind.domain for name, kind in self.kinds(but=but, say=say).items() if kind.domain is not None}

    def microdata(self, domains: Mapping[str, Any], sensitive: str | None = None) -> Microdata:
        """The codes of the table as it is."""
        target = sensitive or next(iter(self.sensitive), None)
        known = {name: domain for name, domain in domains.items() if name in (*self.qi, target)}
        return Microdata.from_frame(self.table, self.qi, target, domains=known, missing=self.missing)


def options_of(solving: Solving, algorithms: list[str]) -> dict[str, dict[str, Any]]:
    """For each algorithm the options it takes; an option that none of them takes is refused."""
    given = {
        "effort": solving.effort,
        "time_limit": solving.time_limit,
        "gap": solving.gap,
        "threads": solving.threads,
    }
    if solving.seed is not None and solving.seed < 0:
        raise InputError(f"--seed {solving.seed}: it must be 0 or more")
    if solving.time_limit is not None and not solving.time_limit > 0:
        raise InputError(f"--time-limit {solving.time_limit:g}: it must be above 0 seconds")
    if solving.gap is not None and not solving.gap >= 1:
        raise InputError(f"--gap {solving.gap:g}: it must be at least 1, the ratio of stars to the bound")
    if solving.threads is not None and solving.threads < 1:
        raise InputError(f"--threads {solving.threads}: it must be at least 1")
    if solving.effort is not None and solving.effort not in ("fast", "default", "best"):
        raise InputError(f"--effort {solving.effort!r}: it must be fast, default or best")
    takes = {name: get(name).options for name in algorithms}
    for option, value in given.items():
        if value is not None and not any(option in parameters for parameters in takes.values()):
            raise InputError(f"--{option.replace('_', '-')} does not apply to algorithm {', '.join(map(repr, algorithms))}")
    return {
        name: {option: value for option, value in given.items() if value is not None and option in parameters} for name, parameters in takes.items()
    }


class Request:
    """What is asked of a release, checked against the table."""

    def __init__(self, source: Source, asking: Asking, solving: Solving, algorithms: list[str], whose: Whose) -> None:
        self.source, self.solving, self.asking, self.unit = source, solving, asking, whose.unit
        self.options = options_of(solving, algorithms)
        self.also = [principle(text) for text in asking.also or []]
        self.algorithms = algorithms

    def fit(self, say: bool = True) -> None:
        """Take the options apart that name columns; the table must have been read, or at least its columns."""
        source, asking = self.source, self.asking
        columns = source.table.column_names
        source.require_unit(self.unit)
        self.weights = {name: whole(value, f"--weight {name}={value}") for name, value in pairs(asking.weight, "--weight", columns).items()}
        self.coarse = {
            name: coarsening(value, f"--coarsen {name}={value}", source.decimal)
            for name, value in pairs(asking.coarsen, "--coarsen", columns).items()
        }
        trees = pairs(asking.hierarchy, "--hierarchy", columns)
        for name in self.weights:
            self._require_qi(name, "--weight")
        named = [name for name in asking.protect or [] if name in columns or "=" not in name]
        levels = pairs([text for text in asking.protect or [] if text not in named], "--protect", columns)
        self.protect = {**dict.fromkeys(named, 0), **{name: whole(value, f"--protect {name}={value}") for name, value in levels.items()}}
        for name in self.protect:
            self._require_qi(name, "--protect")
        for name in self.coarse:
            source.require(name, "--coarsen")
        if self.weights and all(name in WITHOUT_WEIGHTS for name in self.algorithms):
            raise InputError(f"--weight does not apply to algorithm {', '.join(map(repr, self.algorithms))}, which does not look at weights")
        refusing = [name for name in self.algorithms if get(name).suppression and not get(name).generalises]
        for name in trees:
            source.require(name, "--hierarchy")
            if isinstance(self.coarse.get(name), Bins):
                raise InputError(f"--hierarchy {name!r}: the column is made into intervals by --coarsen, which need no hierarchy")
            if name not in self.coarse:
                self._require_qi(name, "--hierarchy")
                if refusing:
                    able = ", ".join(x for x, algorithm in list_algorithms().items() if algorithm.generalises or not algorithm.suppression)
                    raise InputError(
                        f"--hierarchy {name!r}: algorithm {', '.join(map(repr, refusing))} publishes values and stars only; "
                        f"add --coarsen {name}=LEVEL, or choose one that goes along hierarchies ({able})"
                    )
        if asking.loss is not None and not any(name not in self.coarse for name in trees):
            raise InputError("--loss is about nodes of hierarchies: give a --hierarchy, or leave it out")
        self.trees = {name: hierarchy_of(path, name, source.limit, source.decimal) for name, path in trees.items()}
        if asking.star == source.na and source.opened.format.is_text:
            for name in source.qi:
                if source.table.column(name).null_count:
                    raise InputError(f"--star {asking.star!r}: column {name!r} has missing values, which are written so; choose another")
        self.domains = source.domains(but=self.coarse, say=say)

    def _require_qi(self, name: str, option: str) -> None:
        if name not in self.source.qi:
            raise InputError(f"{option}: {name!r} is not a quasi-identifier; there are: {', '.join(map(repr, self.source.qi))}")

    def hierarchy_files(self) -> list[str]:
        """The files of --hierarchy, by the last ``=`` of each word or any other: whatever of it exists is an input."""
        found = []
        for word in self.asking.hierarchy or []:
            found += [word[place + 1 :] for place, letter in enumerate(word) if letter == "=" and word[place + 1 :]]
        return found

    def asked(self, l: int | None, k: int, algorithm: str, progress: Any = None, publishing: Publishing = Publishing()) -> Asked:  # noqa: B008
        """What is asked, of the table that was read."""
        source = self.source
        return Asked(
            source.qi,
            source.sensitive if len(source.sensitive) > 1 else next(iter(source.sensitive), None),
            l,
            k,
            algorithm,
            self.asking.star,
            self.domains,
            self.solving.seed,
            source.missing,
            self.weights,
            self.coarse,
            self.trees,
            "keep" if publishing.keep_order else "random",
            drop=publishing.drop or [],
            only_named=publishing.only_named,
            unit=self.unit,
            options={"protect": self.protect, "also": self.also, **self._options(algorithm, progress)},
        )

    def solve(self, l: int | None, k: int, algorithm: str, progress: Any = None, publishing: Publishing = Publishing()) -> Release:  # noqa: B008
        """The release of the table. What its order gives away stands in ``release.publication``."""
        warnings.simplefilter("ignore", DisclosureWarning)
        return self.asked(l, k, algorithm, progress, publishing).anonymize(self.source.table)

    def original(self) -> Microdata | None:
        """The codes of the table before it was coarsened, of all sensitive columns together; None if it is not coarsened."""
        if not self.coarse:
            return None
        source = self.source
        parts = [source.microdata(source.domains(say=False), name) for name in source.targets]
        return parts[0] if len(parts) == 1 else joined(parts)[0]

    def codes(self) -> list[Microdata]:
        """The table as codes, once for each sensitive column, for several releases of it."""
        source = self.source
        table = coarsen(source.table, self.coarse, self.trees) if self.coarse else source.table
        trees = {name: tree for name, tree in self.trees.items() if name not in self.coarse}
        found = []
        for name in source.targets:
            domains = {key: domain for key, domain in self.domains.items() if key in (*source.qi, name)}
            data = Microdata.from_frame(table, source.qi, name, domains=domains, missing=source.missing)
            found.append(data.with_hierarchies(trees).weighted(self.weights))
        return found

    def solve_codes(self, parts: list[Microdata], l: int, k: int, algorithm: str, progress: Any = None) -> Release:
        """A release of codes: what :meth:`solve` does but for the table."""
        options = self._options(algorithm, progress) | {"k": k, "seed": self.solving.seed, "protect": self.protect}
        if any(name not in self.coarse for name in self.trees) and get(algorithm).generalises:
            options |= {"nodes": True}
        if self.unit is not None:
            return compose_persons(parts, persons_of(self.source.table, self.unit), l, get(algorithm), also=self.also, **options)
        tables = [Contingency.from_microdata(parts[0])] if len(parts) == 1 else parts  # cells counted anew: what solving takes
        return compose(tables, l, get(algorithm), also=self.also, **options)

    def _options(self, algorithm: str, progress: Any) -> dict[str, Any]:
        options = dict(self.options[algorithm])
        if self.asking.loss is not None and get(algorithm).generalises:
            options["loss"] = LOSS.check(self.asking.loss, "--loss")
        if progress is not None and "progress" in get(algorithm).options:
            options["progress"] = progress
        return options
