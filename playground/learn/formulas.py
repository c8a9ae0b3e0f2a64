"""Formulas of exercises and lessons, `pattern[3,1,it,animal] > 0.5`, computed from Python's syntax tree."""

import ast
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from playground.charts.names import escape_markdown
from playground.errors import InputError, list_nearest
from playground.learn.quantities import QUANTITIES, Numbers
from playground.limits import MAX_TOKENS
from playground.link.opening import LinkedView
from playground.text.data import read_table
from playground.text.wording import quote_text
from playground.words import say

MAX_FORMULA = 400
"""Characters."""

PLACE = re.compile(r"\{([a-z_]+)\}")
"""What a case of an exercise fills in."""

_COMPUTED = re.compile(r"\{=([^{}|]+)(?:\|\s*([+,]?(?:\.[0-9]{1,2})?[efg%]?)\s*)?\}")
_VARIABLES = ("answer", "row", "column", "row_name")

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
_near = partial(math.isclose, rel_tol=1e-6)
_TOO_LARGE = 1e300


def check_formula(text: str) -> str:
    """Return the formula; raises `InputError` if it is none, or names something unknown."""
    with _explain_errors(text):
        for path in _names(_parse(PLACE.sub("0", text))):
            if re.sub(r"^(other|start)\.", "", path) not in (*QUANTITIES, *_VARIABLES, *_FUNCTIONS, "near"):
                raise InputError(f"There is no quantity `{path}`: {list_nearest(path, QUANTITIES)}.")
    return text


def compute(text: str, views: Mapping[str, LinkedView], names: Mapping[str, Any] | None = None) -> Any:
    """Compute a formula → a number, truth, word or `Numbers`; raises `InputError`, and whatever a run raises.

    `views` are the state `now`, and others by the word before a quantity, such as `other`. `names` are further
    values, such as `answer`, and functions in the place of `near(a, b)`.
    """
    with _explain_errors(text):
        return _compute(_parse(text), views, {"near": _near, **_FUNCTIONS, **(names or {})})


def read_number(found: Any, formula: str) -> float:
    """Return what a formula has given as a number; raises `InputError` if it is none, or infinite."""
    if not isinstance(found, int | float) or not abs(found) < _TOO_LARGE:
        raise InputError(f"`{formula}` gives no number here.")
    return float(found)


def list_computed(text: str) -> list[str]:
    """Return the formulas of a text, `{= formula}` or `{= formula | .2f}`; raises `InputError`."""
    if "{=" in _COMPUTED.sub("", text):
        raise InputError("`{= formula}` or, with a format, `{= formula | .2f}` would be a number.")
    return [found[1].strip() for found in _COMPUTED.finditer(text)]


def fill_numbers(text: str, compute: Callable[[str], Any]) -> str:
    """Put what `compute` returns in the place of each formula of a text."""

    def write(found: re.Match[str]) -> str:
        value = compute(found[1].strip())
        return format(value, found[2] or ".4g") if isinstance(value, int | float) else escape_markdown(value)

    return _COMPUTED.sub(write, text)


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
    """Return the names in a formula but for places."""
    if isinstance(node, ast.Name | ast.Attribute):
        return [ast.unparse(node)]
    parts = [node.value] if isinstance(node, ast.Subscript) else ast.iter_child_nodes(node)
    return [name for part in parts for name in _names(part)]


def _compute(node: ast.AST, views: Mapping[str, LinkedView], names: Mapping[str, Any]) -> Any:
    def value_of(part: ast.AST) -> Any:
        return _compute(part, views, names)

    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name) if name in _VARIABLES:
            return names[name]
        case ast.Name() | ast.Attribute():
            return _find_quantity(ast.unparse(node), [], views)
        case ast.Subscript(value=value, slice=places):
            parts = places.elts if isinstance(places, ast.Tuple) else [places]
            words = [part.id if isinstance(part, ast.Name) else ast.literal_eval(part) for part in parts]
            return _find_quantity(ast.unparse(value), words, views)
        case ast.Call(func=ast.Name(id=name), args=parts, keywords=[]):
            return names[name](*map(value_of, parts))
        case ast.BinOp(op=sign, left=left, right=right):
            return _OPERATORS[type(sign)](float(value_of(left)), float(value_of(right)))
        case ast.UnaryOp(op=sign, operand=operand):
            return _OPERATORS[type(sign)](value_of(operand))
        case ast.BoolOp(op=sign, values=parts):
            return (all if isinstance(sign, ast.And) else any)(map(value_of, parts))
        case ast.Compare(left=left, ops=signs, comparators=others):
            values = [value_of(part) for part in (left, *others)]
            return all(_OPERATORS[type(s)](a, b) for s, a, b in zip(signs, values, values[1:], strict=False))
    raise InputError(f"{quote_text(ast.unparse(node))} cannot stand in a formula.")


def _find_quantity(path: str, places: list[Any], views: Mapping[str, LinkedView]) -> Any:
    state, _, name = path.partition(".")
    view, known = (views[state], name) if state in views else (views["now"], path)
    found = QUANTITIES[known](view, *places)
    return found if isinstance(found, Numbers | str) else float(found)


# --- the numbers of a page, for whoever asks about one

NUMBERS: Mapping[str, Mapping[str, str]] = read_table(Path(__file__).with_name("numbers.yaml"))


def list_numbers(view: LinkedView) -> dict[str, tuple[str, float]]:
    """Return the numbers of a page at its focus by formula, each with its name in words; raises as the run."""
    found, tokens = dict[str, tuple[str, float]](), view.batch.tokens[view.lab.sentence]
    places = {**vars(view.focus), **{name: view.values[f"positions_{name}"] for name in ("first", "second")}}
    names = [*map(quote_text, tokens), *["[PAD]"] * MAX_TOKENS]
    words = {place: names[at] for place, at in places.items() if place not in ("layer", "head")}
    for name, template in NUMBERS.get(view.page, {}).items():
        key, _, part = name.partition(" ")
        formula = template.format(**places, after=view.focus.layer + 1, last=view.config.n_layers)
        with suppress(InputError):  # such as of a third sentence
            number = read_number(compute(formula, {"now": view}), formula)
            found[formula] = say("lessons", f"number-{key}", **{**places, **words, "part": part}), number
    return found
