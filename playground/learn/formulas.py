"""Formulas of an exercise: arithmetic and comparisons of named quantities, such as `pattern[3,1,it,animal] > 0.5`.

A formula is read by Python's own parser, checked when an exercise is read, and computed here: nothing of it is
executed as Python.
"""

import ast
import difflib
import math
import operator
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from typing import Any

from playground.errors import InputError
from playground.learn.quantities import QUANTITIES, Numbers
from playground.link.opening import LinkedView
from playground.text.wording import join_words, quote_text

MAX_FORMULA = 400
"""Characters."""

_LARGEST_EXPONENT = 64

_OPERATORS: Mapping[type, Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.In: lambda value, values: value in values,
    ast.NotIn: lambda value, values: value not in values,
}

_FUNCTIONS: Mapping[str, Callable[..., Any]] = {"abs": abs, "sqrt": math.sqrt, "log": math.log, "min": min, "max": max}
"""Beside `near`, which knows the answer's tolerance."""


@dataclass(frozen=True)
class Surroundings:
    """What a formula's names stand for."""

    views: Mapping[str, LinkedView]
    """The states that quantities are read of: `now`, and others by the word before the quantity, as `other.`."""
    variables: Mapping[str, Any] = field(default_factory=dict)
    """What else has a name, such as `answer`."""
    is_near: Callable[[float, float], bool] = lambda one, other: math.isclose(one, other, rel_tol=1e-6)
    """What `near(a, b)` says."""


@dataclass(frozen=True)
class Formula:
    """One expression, as it is written."""

    text: str

    @cached_property
    def _tree(self) -> ast.expr:
        if len(self.text) > MAX_FORMULA:
            raise InputError(f"A formula has at most {MAX_FORMULA} characters, and this one has {len(self.text):,}.")
        try:
            return ast.parse(self.text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            message = f"{quote_text(self.text)} is no formula: `pattern[3,1,it,animal] > 0.5` would be one."
            raise InputError(message) from error

    def check(self, states: Collection[str], variables: Collection[str]) -> None:
        """Raise an `InputError` that names what the formula cannot have, and what would work."""
        self._check(self._tree, states, variables)

    def _check(self, node: ast.AST, states: Collection[str], variables: Collection[str]) -> None:
        path = _path(node)
        if path is not None:
            name = _without_state(path, states)
            if path not in variables and name not in QUANTITIES:
                raise InputError(f"There is no quantity `{path}`; {_suggest(name)}")
            return
        match node:
            case ast.Constant(value=bool() | int() | float() | str()):
                return
            case ast.Call(func=ast.Name(id=name), args=parts, keywords=[]) if name in {*_FUNCTIONS, "near"}:
                pass
            case ast.Subscript(value=value, slice=places) if _path(value) is not None:
                self._check(value, states, variables)
                for _ in _places(places):
                    pass
                return
            case ast.BinOp(op=ast.Pow(), left=left, right=right):
                parts = [left, right]
            case ast.BinOp(op=sign, left=left, right=right) if type(sign) in _OPERATORS:
                parts = [left, right]
            case ast.UnaryOp(op=sign, operand=operand) if type(sign) in _OPERATORS:
                parts = [operand]
            case ast.Compare(left=left, ops=signs, comparators=others) if all(type(s) in _OPERATORS for s in signs):
                parts = [left, *others]
            case ast.BoolOp(values=parts):
                pass
            case _:
                raise InputError(
                    f"{quote_text(ast.unparse(node))} cannot stand in a formula: numbers, quantities, + - * / **, "
                    f"comparisons, and, or, not, and the functions {join_words(sorted([*_FUNCTIONS, 'near']))} can."
                )
        for part in parts:
            self._check(part, states, variables)

    def compute(self, surroundings: Surroundings) -> Any:
        """The formula's number, truth, word or `Numbers`.

        Raises:
            InputError: it cannot be computed in this state, as where a token is not in the text; and whatever a
                quantity's run raises.
        """
        try:
            return self._compute(self._tree, surroundings)
        except (ArithmeticError, TypeError, ValueError, LookupError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"`{self.text}` cannot be computed here: {error}.") from error

    def _compute(self, node: ast.AST, around: Surroundings) -> Any:
        path = _path(node)
        if path is not None:
            return _look_up(path, (), around)
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Subscript(value=value, slice=places):
                return _look_up(_path(value) or "", tuple(_places(places)), around)
            case ast.Call(func=ast.Name(id="near"), args=[one, other]):
                return around.is_near(self._compute(one, around), self._compute(other, around))
            case ast.Call(func=ast.Name(id=name), args=parts):
                return _FUNCTIONS[name](*(self._compute(part, around) for part in parts))
            case ast.BinOp(op=ast.Pow(), left=left, right=right):
                base, exponent = self._number(left, around), self._number(right, around)
                if abs(exponent) > _LARGEST_EXPONENT:
                    raise InputError(f"`{self.text}` has an exponent above {_LARGEST_EXPONENT}.")
                return float(base) ** exponent
            case ast.BinOp(op=sign, left=left, right=right):
                return _OPERATORS[type(sign)](self._number(left, around), self._number(right, around))
            case ast.UnaryOp(op=sign, operand=operand):
                return _OPERATORS[type(sign)](self._compute(operand, around))
            case ast.BoolOp(op=ast.And(), values=parts):
                return all(self._compute(part, around) for part in parts)
            case ast.BoolOp(values=parts):
                return any(self._compute(part, around) for part in parts)
            case ast.Compare(left=left, ops=signs, comparators=others):
                values = [self._compute(part, around) for part in (left, *others)]
                return all(_OPERATORS[type(s)](a, b) for s, a, b in zip(signs, values, values[1:], strict=False))
        raise InputError(f"`{self.text}` is no formula.")

    def _number(self, node: ast.AST, around: Surroundings) -> float:
        """One number: words and numbers along an axis are no part of arithmetic."""
        value = self._compute(node, around)
        if not isinstance(value, Real):
            raise InputError(f"`{ast.unparse(node)}` is no number, and arithmetic is done with numbers.")
        return float(value)


def _path(node: ast.AST) -> str | None:
    """A name with its dots; None where the node is something else."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name):
            before = _path(value)
            return None if before is None else f"{before}.{name}"
    return None


def _places(node: ast.AST) -> Iterator[int | str]:
    """What stands in brackets: numbers, and words as they are or in quotation marks."""
    match node:
        case ast.Tuple(elts=parts):
            for part in parts:
                yield from _places(part)
        case ast.Constant(value=int() | str() as value):
            yield value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            yield -value
        case ast.Name(id=name):
            yield name
        case _:
            raise InputError(f"{quote_text(ast.unparse(node))} is no place: a number or a token would be one.")


def _look_up(path: str, places: tuple[int | str, ...], around: Surroundings) -> Any:
    if path in around.variables:
        value = around.variables[path]
        for place in places:
            value = value[place]
        return value
    state, _, name = path.partition(".")
    if state not in around.views or name not in QUANTITIES:
        state, name = "now", path
    found = QUANTITIES[name].compute(around.views[state], *places)
    return found if isinstance(found, Numbers | str) else float(found)


def _without_state(path: str, states: Collection[str]) -> str:
    state, _, name = path.partition(".")
    return name if state in states and name else path


def _suggest(name: str) -> str:
    near = difflib.get_close_matches(name, QUANTITIES, n=1, cutoff=0.5)
    return f"`{near[0]}` is one." if near else f"those are {join_words([f'`{each}`' for each in QUANTITIES])}."
