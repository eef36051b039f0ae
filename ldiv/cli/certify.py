"""ldiv certify: the bound of a certificate, proved again from the microdata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from ldiv.bounds.about import subject
from ldiv.bounds.certificate import Certificate, load_certificate
from ldiv.bounds.levels import Levels
from ldiv.bounds.proof import judge
from ldiv.cli.console import Voice, answer, out, shown
from ldiv.cli.job import Source
from ldiv.cli.options import Columns, File, Reading, Saying
from ldiv.cli.words import hierarchy_of, pairs
from ldiv.errors import InputError
from ldiv.privacy.persons import persons_of
from ldiv.privacy.verify import verify
from ldiv.table.files import open_table
from ldiv.table.files.numbers import require_decimal
from ldiv.table.microdata import Microdata
from ldiv.table.text import text_of

__all__ = ["certify_command"]


class Beyond(Exception):
    """A released table that the certificate is not about, and why."""


def _cost(weights: Mapping[str, int], stars: Mapping[str, int]) -> int:
    """Stars as the certificate counts them."""
    return sum(weights.get(name, 1) * count for name, count in stars.items())


def _lost(data: Microdata, claim: Certificate, table: Any, star: str) -> int | None:
    """What nodes and stars of a released table lose, from its texts; None where texts do not tell."""
    assert claim.prices is not None
    prices = claim.prices
    levels = Levels(data.contingency, prices, dict(zip(prices.protected, prices.highest or [0] * len(prices.protected), strict=True)))
    total = 0
    for j, name in enumerate(data.names):
        high = levels.above[j] & {text_of(x) for x in table.column(name).unique().to_pylist()}
        if high:
            raise Beyond(f"column {name!r} shows {shown(min(high))}, above the level that the certificate is about")
        found = levels.lost(j, {text_of(x["values"]): x["counts"] for x in table.column(name).value_counts().to_pylist()}, star)
        if found is None:
            return None
        total += found
    return total


def certify_command(
    file: File,
    certificate: Annotated[str, typer.Argument(help="A certificate that 'ldiv anonymize --certificate' saved.")],
    reading: Reading,
    saying: Saying,
    release: Annotated[str | None, typer.Option(help="The released table: its stars are counted and it is checked too.")] = None,
    star: Annotated[str, typer.Option(help="What a suppressed cell shows.")] = "*",
    hierarchy: Annotated[
        list[str] | None, typer.Option(help="NAME=FILE and what else 'ldiv anonymize' took, of a release along hierarchies; repeat for each.")
    ] = None,
) -> None:
    """Prove again, from the microdata FILE alone, the bound of a certificate; exit code 0 if it holds, 1 if not."""
    if (reading.missing_qi, reading.missing_sensitive) != ("value", "error"):
        raise InputError("--missing-qi and --missing-sensitive do not apply: a missing value is one more value here")
    claim, about = load_certificate(certificate)
    qi, sensitive, l, *_ = subject(about, certificate)
    source = Source(
        [file],
        reading,
        Columns(list(map(str, qi)), [str(name) for name in sensitive] or None),
        Voice(saying.quiet),
        others=[release] if release is not None else [],
    )
    if reading.na is None and isinstance(about.get("na"), str):
        source.na = about["na"]
    if reading.decimal is None and isinstance(about.get("decimal"), str):
        source.decimal = require_decimal(about["decimal"])
    source.read()
    trees = {
        name: hierarchy_of(path, name, source.limit, source.decimal)
        for name, path in pairs(hierarchy, "--hierarchy", source.table.column_names).items()
    }
    for name in trees:
        if name not in qi:
            raise InputError(f"--hierarchy: {name!r} is not a quasi-identifier of the certificate; there are: {', '.join(map(repr, qi))}")
    domains = source.domains(say=False)
    if isinstance(about.get("numbers"), list):  # the same columns are numbers as when it was made: the proof goes by their order
        domains = {name: domain for name, domain in domains.items() if name in about["numbers"]}
    tables = []
    for name in sensitive or [None]:
        known = {key: domain for key, domain in domains.items() if key in (*qi, name)}
        table = Microdata.from_frame(source.table, qi, name, domains=known, missing={"qi": "value", "sensitive": "value"}, keep=False)
        tables.append(table.with_hierarchies(trees))
    source.require_unit(claim.persons)
    found = judge(tables, claim, about, certificate, None if claim.persons is None else persons_of(source.table, claim.persons))
    lines, holds = [str(found)], bool(found)
    facts: dict[str, Any] = {
        "l": l,
        "k": found.k,
        "qi": qi,
        "sensitive": sensitive[0] if len(sensitive) == 1 else sensitive or None,
        "claimed": found.bound,
        "proven": found.proven,
        "contradiction": found.contradiction,
        "weights": {str(name): weight for name, weight in found.weights.items()},
        "checkable": found.checkable,
    }
    if release is not None:
        names = None if reading.names is None else reading.names.split(",")
        published = open_table([release], delimiter=reading.delimiter, names=names, na=source.na, unpack_limit=source.limit).table
        unit = claim.persons if claim.persons in published.column_names else None  # where it was left out nobody can tell who is who
        verdict = verify(source.table, published, list(qi), sensitive or None, l, k=found.k, star=star, hierarchies=trees, unit=unit)
        cost, why = None, "nodes that lose differently have the same text, so what it loses cannot be told"
        try:
            for name in found.protected:
                if verdict.stars_by_attribute.get(name):
                    raise Beyond(f"column {name!r} has stars, and the certificate is about releases that have none there")
            if found.loss is None:
                cost = _cost(found.weights, verdict.stars_by_attribute)
            else:
                cost = _lost(tables[0].weighted(found.weights) if found.weights else tables[0], claim, published, star)
        except Beyond as reason:
            why = str(reason)
        kind = "stars lost" if found.loss is not None else "stars as counted by the weights" if found.weights else "stars"
        if cost is None:
            lines.append(f"{release}: {why}; {shown(str(verdict), 500)}")
        elif cost < found.proven and verdict:
            lines.append(f"{release}: CONTRADICTION: {found.count(cost)} {kind}, fewer than any release of {file} can have")
        else:
            ratio = f", {cost / found.proven:.4f} times the bound" if found.proven else ""
            lines.append(f"{release}: {found.count(cost)} {kind}{ratio}; a release of {file}: {shown(str(verdict), 500)}")
        facts |= {"stars": cost, "release_verified": bool(verdict)}
        holds = holds and bool(verdict) and cost == found.stars
    if saying.json:
        if found.loss is not None:
            facts |= {name: facts[name] / found.unit for name in ("claimed", "proven", "stars") if facts.get(name) is not None} | {"loss": found.loss}
        answer({"holds": holds, **facts})
    else:
        for line in lines:
            out(line)
    if not holds:
        raise typer.Exit(1)
