"""What an algorithm reports of its run, by name and type; ``Release.info`` is where it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Phases", "Proof", "after_merging", "phases_of", "proof_of"]


@dataclass(frozen=True)
class Phases:
    """How TP went.

    Attributes
    ----------
    phase : int
        In which it ended: 1, 2 or 3.
    residue_sizes, residue_heights : tuple of int
        |R| and h(R) after each phase.
    rounds : int
        Of phase three.
    """

    phase: int
    residue_sizes: tuple[int, ...]
    residue_heights: tuple[int, ...]
    rounds: int


@dataclass(frozen=True)
class Proof:
    """A bound that the algorithm has proven.

    Attributes
    ----------
    bound : int
        On the stars (times weights) of every release.
    prices : Prices or None
        What proves it.
    exact : bool
        Whether exhaustive search proved more than they do.
    loss : int or None
        Of a release along hierarchies what it loses; the bound is on that, in the same units.
    """

    bound: int
    prices: Any
    exact: bool
    loss: int | None = None


def phases_of(info: Mapping[str, Any]) -> Phases | None:
    """How TP went, None for algorithms without TP."""
    if "phase" not in info:
        return None
    return Phases(info["phase"], tuple(info.get("residue_sizes", ())), tuple(info.get("residue_heights", ())), info.get("rounds", 0))


def proof_of(info: Mapping[str, Any]) -> Proof | None:
    """The bound that was proven, on stars or, where ``info`` has a loss, on what is lost; None where the algorithm proves none."""
    exact = info.get("proof") == "exact"
    if "bound" not in info or (info.get("prices") is None and not exact):
        return None
    return Proof(info["bound"], info.get("prices"), exact, info.get("loss"))


def after_merging(info: Mapping[str, Any]) -> dict[str, Any]:
    """What stays true of a release whose groups were merged: no longer TP's phases, nor that it is optimal. A bound stays one: fewer releases are left."""
    return {key: value for key, value in info.items() if key not in ("phase", "optimal")}
