"""What a release came to: its bound, its numbers, its proof."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ldiv.bounds import Certificate, save_certificate
from ldiv.cli.job import Request, Source
from ldiv.errors import InputError
from ldiv.release.release import Release

__all__ = ["bound_of", "facts", "keep_certificate"]


def keep_certificate(bound: Certificate | None, path: Path, release: Release, source: Source, request: Request) -> None:
    """The proof, with what it is about.

    Raises
    ------
    InputError
        Nothing was proven.
    """
    if bound is None:
        raise InputError(
            "--certificate: nothing was proven of this release along hierarchies; leave --effort fast out, or take --algorithm lagrangian"
        )
    save_certificate(
        bound,
        path,
        l=release.l,
        k=release.k,
        qi=source.qi,
        sensitive=source.sensitive[0] if len(source.sensitive) == 1 else source.sensitive or None,
        rows=release.n,
        weights=request.weights,
        numbers=sorted(request.domains),
        na=source.na,
        decimal=source.decimal,
    )


def bound_of(release: Release) -> Certificate | None:
    """What is known of the least number of stars, or of what is lost along hierarchies; None where nothing was proven."""
    return release.certificate if release.certified else None


def facts(release: Release, bound: Certificate | None, algorithm: str) -> dict[str, Any]:
    """A release in numbers."""
    return {
        "algorithm": algorithm,
        "l": release.l,
        "k": release.k,
        "rows": release.n,
        "groups": release.groups,
        "stars": release.stars,
        "cost": release.cost,
        "stars_by_attribute": {str(name): stars for name, stars in release.stars_by_attribute.items()},
        "suppressed_rows": release.suppressed_rows,
        **({"loss": release.loss} if "loss" in release.info else {}),
        **({} if release.is_suppression else {"nodes_by_attribute": {str(name): nodes for name, nodes in release.nodes_by_attribute.items()}}),
        "bound": None if bound is None else bound.bound if bound.unit == 1 else bound.bound / bound.unit,
        "ratio": bound.ratio if bound is not None and bound.ratio != float("inf") else None,
        "proof": bound.proof if bound is not None else None,
    }
