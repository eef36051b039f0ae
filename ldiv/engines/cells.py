"""What all engines do between counting and writing, and with what they counted again."""

from __future__ import annotations

from collections.abc import Sequence

from ldiv.asking import Asked, solved
from ldiv.engines.plan import Counts, Plan, planned
from ldiv.engines.verdict import judge
from ldiv.errors import InputError, MissingColumnError
from ldiv.privacy.verify import Verdict
from ldiv.release.publish import texts_above
from ldiv.release.release import Release
from ldiv.table.counted import Counted
from ldiv.table.frames import named, open_frame

__all__ = ["columns_of", "judged", "planned_cells"]


def columns_of(columns: Sequence[str], asked: Asked) -> tuple[list[str], list[str], list[str]]:
    """Quasi-identifiers, sensitive columns, and those that are published as they are."""
    qi, targets, drop = named(asked.qi, columns, "qi"), asked.targets(columns), named(asked.drop, columns, "drop")
    for name in [*qi, *targets]:
        if name not in columns:
            raise MissingColumnError(name, columns)
    alike: dict[str, str] = {}
    for name in columns:
        if not name:
            raise InputError("a column has no name, such as pandas writes above its index: give it one, or use engine='memory'")
        if name.lower().startswith("ldiv "):
            raise InputError(f"column {name!r} begins with a word that engines use for columns of their own: rename it")
        if alike.setdefault(name.lower(), name) != name:
            raise InputError(f"columns {alike[name.lower()]!r} and {name!r} are one name for an engine, which does not look at capitals: rename one")
    rest = [] if asked.only_named else [x for x in columns if x not in qi and x not in targets and x not in drop]
    return qi, targets, rest


def planned_cells(asked: Asked, counts: Counts, columns: Sequence[str], targets: list[str], to_text: bool) -> tuple[Release, Plan]:
    """The release of what was counted, and what becomes of each row."""
    source = asked.coarsened(open_frame(counts.table), counts.rows)
    names: Sequence[str | None] = targets or [None]
    tables = [asked.microdata(source, name, counts.rows) for name in names]
    release = asked.solve(tables)
    data = solved(tables)
    assert isinstance(data, Counted)
    return release, planned(asked, counts, columns, source, data, release, targets, to_text)


def judged(after: Counts, asked: Asked, counts: Counts, release: Release, plan: Plan, columns: Sequence[str], na: str | None = None) -> Verdict:
    """What was counted of the release, held against what was counted of the source."""
    trees, orders = texts_above(release.contingency.domains, asked.hierarchies)
    return judge(
        counts,
        after,
        plan.qi,
        plan.targets,
        release.l,
        release.k,
        asked.star,
        trees,
        orders,
        plan.claims,
        plan.cell_of,
        plan.looked_up(),
        plan.replaced(),
        plan.rest,
        [name for name in columns if name not in plan.columns],
        na,
    )
