"""Formulas of exercises and lessons: arithmetic and comparisons of named quantities, `pattern[3,1,it,animal] > 0.5`.

Python's own parser reads a formula; the nodes below are computed here, and nothing is executed as Python.
"""

import ast
import difflib
import math
import operator
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from playground.errors import InputError
from playground.learn.quantities import QUANTITIES, Numbers
from playground.link.opening import LinkedView
from playground.text.wording import quote_text

MAX_FORMULA = 400
"""Characters."""

_OPERATORS: Mapping[type, Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: math.pow,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.In: lambda value, values: value in values,
}
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {"abs": abs, "sqrt": math.sqrt, "log": math.log, "min": min, "max": max}


@dataclass(frozen=True)
class Surroundings:
    """What a formula's names stand for."""

    views: Mapping[str, LinkedView]
    """The states that quantities are read of: `now`, and others by the word before the quantity, as `other.`."""
    variables: Mapping[str, Any] = field(default_factory=dict)
    """Other names, such as `answer`."""
    is_near: Callable[[float, float], bool] = lambda one, other: math.isclose(one, other, rel_tol=1e-6)
    """The function `near(a, b)`."""


@dataclass(frozen=True)
class Formula:
    """One expression."""

    text: str

    def check(self, states: Collection[str], variables: Collection[str]) -> None:
        """Raise an `InputError` if this is no expression, or names something unknown."""
        with _explain_errors(self.text):
            for path in _names(_parse(self.text)):
                state, _, name = path.partition(".")
                known = name if state in states else path
                if known not in (*QUANTITIES, *variables, *_FUNCTIONS, "near"):
                    nearest = difflib.get_close_matches(known, QUANTITIES, n=1, cutoff=0)
                    raise InputError(f"There is no quantity `{path}`; `{nearest[0]}` is one.")

    def compute(self, around: Surroundings) -> Any:
        """Return a number, truth, word or `Numbers`; raises `InputError`, and whatever a quantity's run raises."""
        with _explain_errors(self.text):
            return _compute(_parse(self.text), around)


@contextmanager
def _explain_errors(text: str) -> Iterator[None]:
    try:
        yield
    except InputError:
        raise
    except (SyntaxError, ArithmeticError, TypeError, ValueError, LookupError, RecursionError, MemoryError) as error:
        raise InputError(f"{quote_text(text)} is no formula that can be computed here: {error}.") from error


def _parse(text: str) -> ast.expr:
    if len(text) > MAX_FORMULA:
        raise InputError(f"A formula has at most {MAX_FORMULA} characters, and this one has {len(text):,}.")
    return ast.parse(text.strip(), mode="eval").body


def _names(node: ast.AST) -> list[str]:
    """Return the names that a formula computes with; words in brackets are places."""
    if isinstance(node, ast.Name | ast.Attribute):
        return [ast.unparse(node)]
    parts = [node.value] if isinstance(node, ast.Subscript) else ast.iter_child_nodes(node)
    return [name for part in parts for name in _names(part)]


def _compute(node: ast.AST, around: Surroundings) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name() | ast.Attribute():
            return _look_up(ast.unparse(node), [], around)
        case ast.Subscript(value=value, slice=places):
            parts = places.elts if isinstance(places, ast.Tuple) else [places]
            words = [part.id if isinstance(part, ast.Name) else ast.literal_eval(part) for part in parts]
            return _look_up(ast.unparse(value), words, around)
        case ast.Call(func=ast.Name(id=name), args=parts, keywords=[]):
            function = around.is_near if name == "near" else _FUNCTIONS[name]
            return function(*(_compute(part, around) for part in parts))
        case ast.BinOp(op=sign, left=left, right=right):
            return _OPERATORS[type(sign)](float(_compute(left, around)), float(_compute(right, around)))
        case ast.UnaryOp(op=sign, operand=operand):
            return _OPERATORS[type(sign)](_compute(operand, around))
        case ast.BoolOp(op=sign, values=parts):
            combine = all if isinstance(sign, ast.And) else any
            return combine(_compute(part, around) for part in parts)
        case ast.Compare(left=left, ops=signs, comparators=others):
            values = [_compute(part, around) for part in (left, *others)]
            return all(_OPERATORS[type(s)](a, b) for s, a, b in zip(signs, values, values[1:], strict=False))
    raise InputError(f"{quote_text(ast.unparse(node))} cannot stand in a formula.")


def _look_up(path: str, places: list[Any], around: Surroundings) -> Any:
    if path in around.variables:
        return around.variables[path]
    state, _, name = path.partition(".")
    view, known = (around.views[state], name) if state in around.views else (around.views["now"], path)
    found = QUANTITIES[known](view, *places)
    return found if isinstance(found, Numbers | str) else float(found)
