"""The text of a link's `do` as changes; see `write_interventions` for what it looks like."""

import re
from collections.abc import Callable

from playground.errors import InterventionError
from playground.link.interventions.write_interventions import OFF, SEPARATOR, Change, Changes
from playground.model.interventions import (
    AverageHead,
    HideToken,
    Intervention,
    PatchVector,
    SetRow,
    SetWeight,
    ShufflePositions,
    SkipSublayer,
    ZeroHead,
)
from playground.text.wording import quote_text

MAX_INTERVENTIONS = 64
"""That one link may hold."""

_N, _ANY = r"[0-9]{1,9}", r"\*|[0-9]{1,9}"
_SHARE = r"[0-9.]{1,24}(?:e-[0-9]{1,3})?"

_LONGEST_QUOTED = 24
"""Characters of what is no change, in the sentence that says so."""

Parts = dict[str, str]
"""What a pattern's named groups have matched; a group that has matched nothing is left out."""


def _number(text: str | None) -> int | None:
    return None if text in (None, "*") else int(text)


def _share(text: str) -> float:
    """A number between 0 and 1; ValueError where it is none."""
    share = float(text)
    if not 0 <= share <= 1:
        raise ValueError(f"{share} is not between 0 and 1")
    return share


def _read_weight(parts: Parts, strength: float) -> Intervention:
    weight = {"cut": 0.0, "force": 1.0}.get(parts["word"]) if "weight" not in parts else _share(parts["weight"])
    if weight is None or ("weight" in parts) != (parts["word"] == "weight"):
        raise ValueError("a weight has a number, a cut or a forced pair has none")
    layer, head, query, key = int(parts["layer"]), _number(parts["head"]), int(parts["query"]), int(parts["key"])
    return SetWeight(layer, head, query, key, weight, renormalise="after" not in parts, strength=strength)


_HEAD = rf"(?P<layer>{_N})\.(?P<head>{_ANY})"
_PATCH = rf":patch_(?P<token>{_ANY})_(?P<sentence>{_N})"

_FORMS: dict[str, Callable[[Parts, float], Intervention]] = {
    rf"{_HEAD}:zero": lambda p, s: ZeroHead(int(p["layer"]), _number(p["head"]), s),
    rf"{_HEAD}:mean": lambda p, s: AverageHead(int(p["layer"]), _number(p["head"]), s),
    rf"(?P<layer>{_N})\.(?:attn|\*):off": lambda p, s: SkipSublayer(int(p["layer"]), "attn", s),
    rf"(?P<layer>{_N})\.ffn:off": lambda p, s: SkipSublayer(int(p["layer"]), "ffn", s),
    rf"{_HEAD}:(?P<word>cut|force|weight)_(?P<query>{_N})_(?P<key>{_N})"
    rf"(?:_(?P<weight>{_SHARE}))?(?:_(?P<after>after))?": _read_weight,
    rf"{_HEAD}:hide_(?P<key>{_N})": lambda p, s: HideToken(int(p["layer"]), _number(p["head"]), int(p["key"]), s),
    rf"{_HEAD}:(?P<row>uniform|diagonal)_(?P<query>{_ANY})": lambda p, s: SetRow(
        int(p["layer"]), _number(p["head"]), _number(p["query"]), "uniform" if p["row"] == "uniform" else "diagonal",
        strength=s,
    ),
    rf"{_HEAD}:copy_(?P<query>{_ANY})_(?P<source>{_N})": lambda p, s: SetRow(
        int(p["layer"]), _number(p["head"]), _number(p["query"]), "copy", int(p["source"]), s
    ),
    rf"positions:shuffle_(?P<seed>{_N})": lambda p, s: ShufflePositions(int(p["seed"]), s),
    rf"embed{_PATCH}": lambda p, s: PatchVector(None, "embed", _number(p["token"]), int(p["sentence"]) - 1, None, s),
    rf"(?P<layer>{_N})\.(?P<point>attn|mid|ffn|out){_PATCH}": lambda p, s: _read_patch(p, s),
    rf"(?P<layer>{_N})\.(?:(?P<head>{_N})\.)?(?P<point>[qkvz]){_PATCH}": lambda p, s: _read_patch(p, s),
}  # fmt: skip
"""What an intervention without its strength may look like, and how its parts are read."""


def _read_patch(parts: Parts, strength: float) -> Intervention:
    return PatchVector(
        layer=int(parts["layer"]),
        point=parts["point"],  # type: ignore[arg-type]  # the pattern allows no other word
        token=_number(parts["token"]),
        sentence=int(parts["sentence"]) - 1,
        head=_number(parts.get("head")),
        strength=strength,
    )


def read_intervention(text: str) -> Intervention:
    """One intervention, as `write_intervention` writes it, whether or not any model can have it.

    Raises:
        InterventionError: the text is none.
    """
    halves = re.fullmatch(rf"(?P<what>[^~]*)(?:~(?P<strength>{_SHARE}))?", text, re.ASCII)
    for form, build in _FORMS.items():
        if halves and (match := re.fullmatch(form, halves["what"], re.ASCII)):
            parts = {name: part for name, part in match.groupdict().items() if part is not None}
            try:
                return build(parts, _share(halves["strength"] or "1"))
            except ValueError:  # a weight or a strength that is no number between 0 and 1
                break
    raise InterventionError(f"The link's do={_quote(text)} is not a change that the playground knows.")


def _quote(text: str) -> str:
    """A text that is no change in quotation marks; with its `:` and `@` where these can make no link and no icon."""
    if len(text) <= _LONGEST_QUOTED and re.fullmatch(r"[0-9a-z_.]*:[0-9a-z_.]*(?:@[0-9.]*)?", text, re.ASCII):
        return f"“{text}”"
    return quote_text(text, longest=_LONGEST_QUOTED)


def read_changes(text: str) -> tuple[tuple[Change, ...], list[str]]:
    """The changes of a link's `do`, each once, and a sentence on each part of it that is none."""
    found: dict[Intervention, Change] = {}
    sentences: list[str] = []
    items = [item for item in text.split(SEPARATOR, MAX_INTERVENTIONS) if item]
    if len(items) > MAX_INTERVENTIONS:
        sentences.append(f"The link has more than {MAX_INTERVENTIONS} changes; only the first ones are made.")
    for item in items[:MAX_INTERVENTIONS]:
        try:
            intervention = read_intervention(item.removeprefix(OFF))
        except InterventionError as error:
            sentences.append(str(error))
        else:
            found.setdefault(intervention, Change(intervention, not item.startswith(OFF)))
    return tuple(found.values()), sentences


def read_parameter(text: str) -> tuple[Changes, str | None]:
    """A link's `do` as the session holds it, without what is no change, and sentences on that, if anything is."""
    changes, sentences = read_changes(text)
    return Changes(changes), " ".join(sentences) or None
