"""What every public argument may be: one declaration each, one form of error, ``NAME must be ..., not VALUE``, and values taken and refused, for tests."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

import numpy as np

from ldiv.errors import InputError, nearest
from ldiv.limited import Limited

__all__ = [
    "ALPHA",
    "BEST",
    "C",
    "DECLARED",
    "DISTANCE",
    "EFFORT",
    "K",
    "L",
    "MOST_ROWS",
    "MOST_SENSITIVE",
    "MOST_VALUES",
    "LOSS",
    "NODES",
    "OBJECTIVE",
    "PROGRESS",
    "SEED",
    "SIZE",
    "STRENGTH",
    "SUPPRESSION",
    "TARGET",
    "GAP",
    "THREADS",
    "TIME_LIMIT",
    "USUAL_THREADS",
    "WEIGHT",
    "Argument",
    "Call",
    "Choice",
    "Flag",
    "Number",
    "Plan",
    "Whole",
    "check_options",
    "hint",
    "options_of",
    "shown",
    "takes",
]

MOST_ROWS = 1 << 62  # of a table in all: sums of counts then fit 64 bits, twice over
MOST_VALUES = (1 << 31) - 1  # of an attribute, and of cells and of groups: codes are int32
MOST_SENSITIVE = 1 << 26  # values of the sensitive attribute: some arrays have an entry for each
LONGEST, WIDE = 80, 1 << 20  # characters of a value in a message; ranges up to here are told whole


def shown(value: Any) -> str:
    """A value in an error message, cut where it is long."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001  a foreign object may not even print
        text = f"an object of type {type(value).__name__}"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def hint(name: Any, known: Iterable[Any]) -> str:
    """What was probably meant, as the end of a message; nothing where nothing is near."""
    near = nearest(name, known)
    return f": did you mean {near!r}?" if near is not None else ""


@dataclass(frozen=True)
class Argument:
    """A declaration. ``check`` returns the value as it is used, or raises InputError.

    Attributes
    ----------
    name : str
    optional : bool
        Whether None is allowed.
    """

    name: str
    optional: bool = False

    def allowed(self, value: Any) -> str:
        """What the argument must be and this value is not, in words."""
        raise NotImplementedError

    def take(self, value: Any) -> Any:
        """The value as it is used; TypeError where it is of another kind, ValueError where it is out of range."""
        raise NotImplementedError

    def check(self, value: Any, name: str | None = None, advice: str = "") -> Any:
        """The value as it is used.

        Parameters
        ----------
        value : object
        name : str, optional
            How the message calls the argument where that says more than its own name.
        advice : str
            The end of the message.

        Raises
        ------
        InputError
        """
        if value is None and self.optional:
            return None
        try:
            return self.take(value)
        except TypeError:
            kind = f" ({type(value).__name__})"
        except ValueError:
            kind = ""
        none = ", or None" if self.optional else ""
        raise InputError(f"{name or self.name} must be {self.allowed(value)}{none}, not {shown(value)}{kind}{advice or self.advice(value)}")

    def advice(self, value: Any) -> str:
        """What to do about a value that is refused."""
        return ""

    def valid(self) -> list[Any]:
        """Some values that are allowed, the extreme ones among them."""
        raise NotImplementedError

    def invalid(self) -> list[Any]:
        """Some values that are not."""
        wrong: list[Any] = ["nonsense", b"1", [1], (1,), {}, object(), float("nan"), 1j, np.array([1, 2])]
        return wrong if self.optional else [None, *wrong]


@dataclass(frozen=True)
class Whole(Argument):
    """A whole number in a range; numpy's integers are whole numbers, booleans and floats are not."""

    least: int = 0
    most: int | None = None

    def allowed(self, value: Any) -> str:
        if self.most is not None and self.most <= WIDE:
            return f"a whole number from {self.least:,} to {self.most:,}"
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
            return "a whole number"
        return f"at least {self.least:,}" if value < self.least else f"at most {self.most:,}"

    def take(self, value: Any) -> int:
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
            raise TypeError
        if value < self.least or (self.most is not None and value > self.most):
            raise ValueError
        return int(value)

    def valid(self) -> list[Any]:
        return [self.least, np.int64(self.least), np.uint8(self.least), self.least + 1, *([] if self.most is None else [self.most])]

    def invalid(self) -> list[Any]:
        above = [] if self.most is None else [self.most + 1, 10 * self.most, 1 << 200]
        kinds = [True, np.True_, self.least + 0.5, float(self.least), str(self.least), math.inf]
        return [*super().invalid(), *kinds, self.least - 1, -(1 << 70), *above]


@dataclass(frozen=True)
class Number(Argument):
    """A finite number in a range."""

    least: float = 0.0
    most: float = math.inf
    open_below: bool = False  # `least` itself is not allowed

    def allowed(self, value: Any) -> str:
        low = f"more than {self.least:g}" if self.open_below else f"at least {self.least:g}"
        return f"a finite number, {low}" + ("" if self.most == math.inf else f" and at most {self.most:g}")

    def take(self, value: Any) -> float:
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
            raise TypeError
        try:
            number = float(value)
        except OverflowError:
            raise ValueError from None
        if not math.isfinite(number) or not self.least <= number <= self.most or (self.open_below and number == self.least):
            raise ValueError
        return number

    def valid(self) -> list[Any]:
        inside = self.least + 0.5 if self.most == math.inf else (self.least + self.most) / 2
        ends = [*([] if self.open_below else [self.least]), *([] if self.most == math.inf else [self.most, int(self.most)])]
        return [inside, np.float32(inside), *ends]

    def invalid(self) -> list[Any]:
        return [
            *super().invalid(),
            True,
            math.inf,
            -math.inf,
            self.least - 1,
            "1",
            10**400,
            *([self.least] if self.open_below else []),
            *([] if self.most == math.inf else [self.most + 1]),
        ]


@dataclass(frozen=True)
class Choice(Argument):
    """One of some names, or an object of a type that stands for one."""

    of: tuple[str, ...] = ()
    instead: type | tuple[type, ...] | None = None

    def allowed(self, value: Any) -> str:
        return f"one of {', '.join(map(repr, self.of))}"

    def take(self, value: Any) -> Any:
        if self.instead is not None and isinstance(value, self.instead) and not (isinstance(value, Mapping) and not value):
            return value
        if not isinstance(value, str):
            raise TypeError
        if value not in self.of:
            raise ValueError
        return str(value)

    def advice(self, value: Any) -> str:
        return hint(value, self.of) if isinstance(value, str) else ""

    def valid(self) -> list[Any]:
        return list(self.of)

    def invalid(self) -> list[Any]:
        return [*super().invalid(), 1, True, "", self.of[0].upper(), f"{self.of[0]} ", self.of[0][:-1]]


@dataclass(frozen=True)
class Flag(Argument):
    """True or False."""

    def allowed(self, value: Any) -> str:
        return "True or False"

    def take(self, value: Any) -> bool:
        if not isinstance(value, (bool, np.bool_)):
            raise TypeError
        return bool(value)

    def valid(self) -> list[Any]:
        return [True, False, np.True_]

    def invalid(self) -> list[Any]:
        return [*super().invalid(), 0, 1, "True", 1.0]


@dataclass(frozen=True)
class Call(Argument):
    """Something to call."""

    def allowed(self, value: Any) -> str:
        return "a function"

    def take(self, value: Any) -> Callable[..., Any]:
        if not callable(value):
            raise TypeError
        return value  # type: ignore[no-any-return]

    def valid(self) -> list[Any]:
        return [print]

    def invalid(self) -> list[Any]:
        return [*super().invalid(), 1, True]


class Plan:
    """What may stand for a named effort: all its numbers, given one by one."""


L = Whole("l", least=1, most=MOST_ROWS)
K = Whole("k", least=1, most=MOST_ROWS)
SIZE = Whole("size", least=1, most=MOST_VALUES)
WEIGHT = Whole("weight", least=1, most=10_000)
SEED = Whole("seed", optional=True)
THREADS = Whole("threads", optional=True, least=1, most=1024)
USUAL_THREADS = min(2, os.cpu_count() or 1)  # where none are asked for
TIME_LIMIT = Number("time_limit", optional=True, open_below=True)
GAP = Number("gap", optional=True, least=1)
EFFORT = Choice("effort", of=("fast", "default", "best"), instead=Plan)
OBJECTIVE = Choice("objective", of=("stars", "tuples"))
TARGET = Whole("target", optional=True)
BEST = Choice("best", of=("kl", "stars"))
NODES = Flag("nodes")
LOSS = Choice("loss", of=("ncp", "level"), instead=(Mapping, Limited), optional=True)
SUPPRESSION = Number("suppression", least=0, most=1)
PROGRESS = Call("progress", optional=True)
ALPHA = Number("alpha", least=0, most=1, open_below=True)
DISTANCE = Number("t", least=0, most=1)
STRENGTH = Number("l", least=1)
C = Number("c", least=0, open_below=True)

# The options of algorithms, by name; an algorithm takes those that its signature names.
DECLARED = {x.name: x for x in (SEED, THREADS, TIME_LIMIT, GAP, EFFORT, OBJECTIVE, TARGET, NODES, LOSS, PROGRESS, SUPPRESSION)}


def options_of(solve: Callable[..., Any]) -> dict[str, Argument | None]:
    """The options that an algorithm's function takes beside cells, l, k and seed, each with its declaration where it has one here."""
    return {name: DECLARED.get(name) for name in _named(_parameters(solve) or []) if name != "seed"}


def takes(solve: Callable[..., Any], name: str) -> bool:
    """Whether an algorithm's function takes an option of that name."""
    return any(x.name == name or x.kind is Parameter.VAR_KEYWORD for x in _parameters(solve) or [])


def _parameters(solve: Callable[..., Any]) -> list[Parameter] | None:
    try:
        return list(signature(solve).parameters.values())
    except (TypeError, ValueError):  # compiled code may not tell
        return None


def _named(parameters: Sequence[Parameter]) -> list[str]:
    """The options among an algorithm's parameters; k is no option, it is asked for like l, and told to those that take it."""
    return [x.name for x in parameters if x.kind in (Parameter.KEYWORD_ONLY, Parameter.POSITIONAL_OR_KEYWORD) and x.name != "k"][2:]


def check_options(algorithm: str, solve: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of an algorithm as they are used.

    Raises
    ------
    InputError
        An option that the algorithm does not take, with those it does; or a value that the option does not take.
    """
    if (parameters := _parameters(solve)) is None:
        return dict(options)
    named = _named(parameters)
    for name in options:
        if name not in named and not takes(solve, name):
            listed = ", ".join(f"{x}=" for x in named) or "no options"
            raise InputError(f"algorithm {algorithm!r} has no option {name}=; it takes {listed}{hint(name, named)}")
    own = {x.name: x.default for x in parameters}  # what an algorithm itself says needs no check
    return {
        name: value if name not in DECLARED or name not in named or own[name] is value else DECLARED[name].check(value)
        for name, value in options.items()
    }
