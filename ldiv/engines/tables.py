"""The small tables of a plan, as Arrow has them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ldiv.engines.plan import KEEP, Plan

__all__ = ["forms_of", "pieces_of", "plan_of", "secret_of", "texts_of"]


def plan_of(plan: Plan, numbers: Any) -> Any:
    """For each combination, by the number that the engine gave it: form, cell, and the texts of columns that are looked up."""
    import pyarrow as pa

    columns: dict[str, Any] = {
        "ldiv id": numbers,
        "ldiv form": pa.array(plan.form),
        "ldiv cell": pa.array(plan.cell),
    }
    for at, name in enumerate([*plan.qi, *plan.targets]):
        shown = plan.shown[name]
        if shown.how == "lookup":
            columns[f"ldiv text {at}"] = pa.array(list(shown.text), pa.string()).take(pa.array(shown.code))
    return pa.table(columns)


def pieces_of(plan: Plan) -> Any:
    """Which numbers of a split cell take which form."""
    import pyarrow as pa

    cell, low, high, form = plan.pieces
    return pa.table({"ldiv cell": pa.array(cell.astype(np.int32)), "low": pa.array(low), "high": pa.array(high), "ldiv form": pa.array(form)})


def forms_of(plan: Plan) -> Any:
    """What each form shows in place of values."""
    import pyarrow as pa

    columns: dict[str, Any] = {"ldiv form": pa.array(np.arange(len(plan.forms)))}
    for at, codes in enumerate(plan.forms.T):
        if plan.changed[at]:
            columns[f"changed{at}"] = pa.array(codes != KEEP)
            columns[f"text{at}"] = pa.array(plan.texts[at], pa.string()).take(pa.array(codes))
    return pa.table(columns)


def texts_of(plan: Plan, name: str) -> Any:
    """All values of a column that is looked up, and their texts."""
    import pyarrow as pa

    return pa.table({"own": plan.own[name], "shown": plan.looked[name]})


def secret_of(plan: Plan) -> Any:
    """What digests of rows are keyed with."""
    import pyarrow as pa

    return pa.table({"salt": pa.array([plan.salt])})
