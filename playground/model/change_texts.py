"""A change's text in a link, its name, its formula, as `KINDS` has them.

In a link, a change is place:what, or place:what~strength below strength 1: `3.1:zero` is head 1 of layer 3 at zero,
`3.*:cut_4_7~0.5` takes half of token 7's weight from token 4 in every head. Sentences count from 1 there; `*` is every
head, or every token. docs/pages.md lists all.
"""

import re
from functools import cache

from playground.model.changes import KINDS, Arg, Change, Words, WriteNumber

_NUMBER, _SHARE = r"[0-9]{1,9}", r"[0-9.]{1,24}(?:e-[0-9]{1,3})?"
_FIELD = re.compile(r"\{(\w+)(\*?)(?::([^}]*))?\}")


def read_change(text: str) -> Change | None:
    """Read what `write_change` writes; None if it is no change."""
    halves = re.fullmatch(rf"([^~]*)(?:~({_SHARE}))?", text)
    for kind, spec in KINDS.items():
        for template, implied in spec.texts:
            if halves and (found := _pattern(template).fullmatch(halves[1])):
                try:
                    values = {**implied, **{name: _read_value(name, part) for name, part in found.groupdict().items()}}
                    strength = _read_share(halves[2] or "1")
                except ValueError:  # a weight or a strength that is no number between 0 and 1
                    return None
                args = tuple(values.get(name) for name in spec.args)
                layer, head = values.get("layer"), values.get("head")
                return Change(kind, layer, head, args, strength)  # type: ignore[arg-type]  # they match as whole numbers
    return None


def write_change(change: Change) -> str:
    """Return a change's text, such as `3.1:zero~0.5`; ValueError if no text of its kind fits."""
    template = find_text(change)
    if template is None:
        raise ValueError(f"{change} has no text.")
    text = _FIELD.sub(lambda found: _write_value(found[1], change[found[1]]), template)
    return text if change.strength == 1 else f"{text}~{float(change.strength)!r}"


def find_text(change: Change) -> str | None:
    """Return the first text of its kind that fits a change, or None."""
    for template, implied in change.spec.texts:
        fields = {found[1]: found for found in _FIELD.finditer(template)}
        names = ("layer", "head", *change.spec.args)
        if all(_fits(change[name], fields.get(name), implied.get(name)) for name in names):
            return template
    return None


def name_change(change: Change, word: Words | None = None) -> str:
    """Name a change, as `layer 3, head 1: token 10 ↛ token 2`."""
    strength = "" if change.strength == 1 else f" · strength {change.strength:.3g}"
    return f"{change.spec.name(change, word or count_token)}{strength}"


def write_formula(change: Change, symbol: str, write: WriteNumber) -> str:
    r"""Write a change of the numbers of a symbol as LaTeX: `z_t \leftarrow 0`."""
    if change["key"] is not None:
        symbol = symbol.replace("j", str(change["key"]))
    new = change.spec.formula(change, symbol, write)
    if change.spec.blends:
        return new
    if change.strength != 1:
        share = write(change.strength)
        new = rf"(1 - {share})\, {symbol} + {share} \cdot \left({new}\right)"
    return rf"{symbol} \leftarrow {new}"


def count_token(token: int | None) -> str:
    """Name a token by its position."""
    return "every token" if token is None else f"token {token}"


def _fits(value: Arg, place: re.Match[str] | None, implied: Arg) -> bool:
    if place is None:
        return value == implied
    return bool(place[2]) if value is None else not place[3] or re.fullmatch(place[3], str(value)) is not None


@cache
def _pattern(template: str) -> re.Pattern[str]:
    pieces, at = [], 0
    for found in _FIELD.finditer(template):
        number = _SHARE if found[1] == "weight" else rf"\*|{_NUMBER}" if found[2] else _NUMBER
        pieces += [re.escape(template[at : found.start()]), f"(?P<{found[1]}>{found[3] or number})"]
        at = found.end()
    return re.compile("".join([*pieces, re.escape(template[at:])]))


def _read_value(name: str, part: str) -> Arg:
    if name == "weight":
        return _read_share(part)
    if not part.isdigit():
        return None if part == "*" else part
    return int(part) - 1 if name == "sentence" else int(part)


def _write_value(name: str, value: Arg) -> str:
    if isinstance(value, float | int) and name in ("weight", "sentence"):
        return repr(float(value)) if name == "weight" else str(int(value) + 1)
    return "*" if value is None else str(value)


def _read_share(text: str) -> float:
    share = float(text)
    if not 0 <= share <= 1:
        raise ValueError(f"{share} is not between 0 and 1")
    return share
