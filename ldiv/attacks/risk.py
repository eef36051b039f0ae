"""Closed forms: how likely a row is found or its sensitive value is told, with nothing known but the release, or with some values ruled out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.arguments import Number, Whole
from ldiv.attacks.grouped import histograms_of
from ldiv.errors import InputError
from ldiv.release.release import Release
from ldiv.table.microdata import Microdata
from ldiv.utility.queries import Workload
from ldiv.utility.shown import shown_by

__all__ = ["Disclosure", "Risk", "negated", "reidentification"]

THRESHOLD, KNOWN = Number("threshold", most=1), Whole("known", least=0)


@dataclass(frozen=True)
class Risk:
    """How likely records are re-identified; rows that are starred throughout are left out, as in ARX.

    Attributes
    ----------
    at_risk : float
        The share of rows with a risk above the threshold.
    highest : float
        The risk of the rows that are most at risk.
    average : float
        The mean over rows: what an adversary succeeds with who tries everybody (for the marketer that is the risk).
    """

    at_risk: float
    highest: float
    average: float


@dataclass(frozen=True)
class Disclosure:
    """How sure somebody can be of a person's sensitive value.

    Attributes
    ----------
    highest : float
        Of the group where that is most.
    average : float
        The mean over rows.
    above : float
        The share of rows in groups where it is above 1 / l.
    """

    highest: float
    average: float
    above: float


def reidentification(release: Release, population: Microdata | None = None, *, threshold: float = 0.2) -> dict[str, Risk]:
    """Prosecutor, journalist and marketer risk.

    Parameters
    ----------
    release : Release
    population : Microdata, optional
        All people the rows were drawn from, of equal domains. The journalist does not know who is in the table, so a row's risk is 1 over the people of the population who
        fit what it publishes; without a population nobody else is known to fit, and the journalist's risk is the prosecutor's.
    threshold : float, default 0.2

    Returns
    -------
    dict from ``"prosecutor"``, ``"journalist"``, ``"marketer"`` to Risk

    Raises
    ------
    InputError
        A population with other domains, or in which nobody fits a published row.

    Notes
    -----
    With n_g the rows of group g and F_g the people of the population who fit it (n_g without a population): prosecutor 1 / n_g; journalist 1 / F_g, on average max(groups / sum F, mean over rows of 1 / F_g) as in ARX;
    marketer the mean over rows of 1 / F_g.

    References
    ----------
    K. El Emam: Guide to the de-identification of personal health information. CRC Press 2013; ARX, ``RiskModelSampleRisks``.

    Examples
    --------
    >>> import ldiv
    >>> from ldiv.attacks import reidentification
    >>> data = ldiv.Microdata.from_codes([[0], [0], [1], [1], [1], [1]], [0, 1, 0, 1, 0, 1])
    >>> reidentification(ldiv.solve(data, l=2))["prosecutor"]
    Risk(at_risk=1.0, highest=0.5, average=0.3333333333333333)
    """
    threshold = THRESHOLD.check(threshold)
    if not isinstance(release, Release):
        raise InputError(f"a Release is needed, not {type(release).__name__}")
    kept = (release.published != -1).any(axis=1)
    size = release.group_sizes[kept].astype(np.float64)
    if not len(size):
        return dict.fromkeys(("prosecutor", "journalist", "marketer"), Risk(0.0, 0.0, 0.0))
    fits = size if population is None else _fitting(release, population)[kept]
    rows = size.sum()

    def risk(people: NDArray[np.float64], average: float) -> Risk:
        return Risk(float(size[1 / people > threshold].sum() / rows), float(1 / people.min()), average)

    each = float((size / fits).sum() / rows)
    return {
        "prosecutor": risk(size, float(len(size) / rows)),
        "journalist": risk(fits, max(float(len(fits) / fits.sum()), each)),
        "marketer": Risk(0.0, each, each),
    }


def _fitting(release: Release, population: Microdata) -> NDArray[np.float64]:
    """How many people of a population fit what each group publishes."""
    c = release.contingency
    if [x.size for x in population.domains] != c.sizes:
        raise InputError("population must have the domains of the release's table")
    seen = shown_by(release)
    masks = []
    for j in range(c.d):
        things = np.zeros((len(seen.codes[j]), c.sizes[j]), dtype=bool)
        for k, codes in enumerate(seen.codes[j]):
            things[k, codes] = True
        masks.append(things[seen.kind[:, j]])
    groups = len(seen.kind)
    whole = Workload(tuple(masks), np.ones((groups, population.m), dtype=bool), np.ones((groups, c.d + 1), dtype=bool))
    found = whole.answers(population)
    if (found < 1).any():
        raise InputError("nobody of the population fits a published row: it is no population of the table")
    return found


def negated(release: Any, known: int) -> Disclosure:
    """How sure somebody can be who knows of a person `known` sensitive values that it does not have, the worst ones.

    Parameters
    ----------
    release : Release, or what :func:`ldiv.anatomize` returns
    known : int
        0 is the release alone: 1 / l at most.

    Returns
    -------
    Disclosure
        In a group of n rows with counts n(1) >= n(2) >= ...: n(1) / (n - n(2) - ... - n(known + 1)).

    Notes
    -----
    Closed form, O(groups * values). Who knows l - 1 such values may be certain where a group has l values.

    References
    ----------
    D. Martin, D. Kifer, A. Machanavajjhala, J. Gehrke, J. Halpern: Worst-case background knowledge for privacy-preserving data publishing. ICDE 2007; here negated
    atoms, the weakest of its languages. A. Machanavajjhala et al.: l-diversity. ICDE 2006.

    Examples
    --------
    >>> import ldiv
    >>> from ldiv.attacks import negated
    >>> data = ldiv.Microdata.from_codes([[0]] * 6, [0, 0, 1, 1, 2, 3])
    >>> release = ldiv.solve(data, l=3)
    >>> [negated(release, known).highest for known in (0, 1, 2, 3)]
    [0.3333333333333333, 0.5, 0.6666666666666666, 1.0]
    """
    known = KNOWN.check(known)
    groups = histograms_of(release)
    size = groups.size
    if not len(size):
        return Disclosure(0.0, 0.0, 0.0)
    number = np.repeat(np.arange(len(size)), np.diff(groups.indptr))
    order = np.lexsort((-groups.count, number))
    place = np.arange(len(order)) - groups.indptr[number[order]]
    falling = groups.count[order]
    gone = np.bincount(number[order], np.where((place > 0) & (place <= known), falling, 0), len(size))
    sure = falling[place == 0] / (size - gone)
    return Disclosure(float(sure.max()), float(sure @ size / size.sum()), float(size[sure > 1 / release.l + 1e-12].sum() / size.sum()))
