"""A release in words: the summary on the command line, and what notebooks show."""

from __future__ import annotations

from typing import Any

__all__ = ["facts_of", "summary_of"]


def summary_of(release: Any) -> str:
    """A few lines for people."""
    n = release.n
    cells = max(n * release.d, 1)
    lines = [
        f"{release.promise} release of {n:,} rows by {release.algorithm}: {release.groups:,} QI-groups",
        f"stars {release.stars:,} ({100 * release.stars / cells:.2f} % of QI cells), "
        f"rows with a star {release.suppressed_rows:,} ({100 * release.suppressed_rows / max(n, 1):.2f} %)",
    ]
    if "loss" in release.info:
        whole = max(n * int(release.contingency.weights.sum()), 1)
        lines.append(f"nodes and stars lose as much as {release.loss:,.1f} stars ({100 * release.loss / whole:.2f} % of what all stars would)")
    if release.is_suppression:
        lines += [f"  {name}: {stars:,}" for name, stars in release.stars_by_attribute.items()]
    else:
        nodes = release.nodes_by_attribute
        lines += [f"  {name}: {stars:,} stars, {nodes[name]:,} nodes" for name, stars in release.stars_by_attribute.items()]
    if n > 1 and release.contingency.groups == n and release.l > 1:
        lines.append("every row was alone with its QI values: coarsen some, or leave out what nobody could know, and fewer cells are starred")
    for name, persons in release.info.get("varies", {}).items():
        lines.append(f"{name} is starred for {persons:,} persons in whose rows it differs")
    if release.phase is not None:
        lines.append(f"TP ended in phase {release.phase}")
    if release.publication is not None:
        lines += release.publication.in_short()
    return "\n".join(lines)


def facts_of(release: Any) -> list[tuple[str, object]]:
    """What a notebook shows, by name."""
    rows: list[tuple[str, object]] = [("rows", release.n), ("QI-groups", release.groups), ("stars", release.stars)]
    rows.append(("rows with a star", release.suppressed_rows))
    if "loss" in release.info:
        rows.append(("lost, in stars", f"{release.loss:,.1f}"))
    rows += [(f"stars in {name}", stars) for name, stars in release.stars_by_attribute.items()]
    if not release.is_suppression:
        rows += [(f"nodes in {name}", nodes) for name, nodes in release.nodes_by_attribute.items()]
    return rows
