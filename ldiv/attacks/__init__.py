"""Attacks on releases, measured: what somebody learns who knows more than l-diversity assumes. docs/limits.md says what they mean."""

from ldiv.attacks.definetti import Guessed, definetti
from ldiv.attacks.downcoding import Recovered, downcoding
from ldiv.attacks.knowing import Composed, composition, minimality
from ldiv.attacks.risk import Disclosure, Risk, negated, reidentification

__all__ = [
    "Composed",
    "Disclosure",
    "Guessed",
    "Recovered",
    "Risk",
    "composition",
    "definetti",
    "downcoding",
    "minimality",
    "negated",
    "reidentification",
]
