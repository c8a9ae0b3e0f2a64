"""The visitor's changes of the computation: the text of a link's `do`, and which of them a sentence's run can have.

They stand in a row with commas between them, each in the text of its kind (see `playground.model.changes`), behind a
minus sign where the visitor has switched it off: `-3.1:zero` is not made, but kept to be switched on again.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from playground.config import ModelConfig
from playground.model.change_texts import read_change, write_change
from playground.model.changes import Change
from playground.model.interventions import divide_changes
from playground.runs.forward_pass import intervention_subject
from playground.text import Batch
from playground.text.wording import quote_text

MAX_CHANGES = 64
"""That one link may hold."""

_SEPARATOR = ","

_OFF = "-"
"""What a change that is switched off begins with."""

_LONGEST_QUOTED = 24
"""Characters of what is no change, in the sentence that says so."""


class MadeChange(NamedTuple):
    """A change as the visitor has it on the page: switched on, or kept to be switched on again."""

    change: Change
    is_on: bool = True


@dataclass(frozen=True)
class Changes:
    """The visitor's changes in their order: what the link's `do` is once it is read, and what the session holds.

    As a string it is the link's text; it is false where there is none.
    """

    made: tuple[MadeChange, ...] = ()

    def __str__(self) -> str:
        return _SEPARATOR.join(f"{'' if is_on else _OFF}{write_change(change)}" for change, is_on in self.made)

    def __bool__(self) -> bool:
        return bool(self.made)


def write_changes(changes: Iterable[Change]) -> str:
    """The text of a link's `do` for changes in their order, all of them on; empty for none."""
    return str(Changes(tuple(map(MadeChange, changes))))


def read_changes(text: str) -> tuple[Changes, str | None]:
    """The changes of a link's `do`, each once, and sentences on what is no change, if anything is."""
    found: dict[Change, MadeChange] = {}
    sentences: list[str] = []
    items = [item for item in text.split(_SEPARATOR, MAX_CHANGES) if item]
    if len(items) > MAX_CHANGES:
        sentences.append(f"The link has more than {MAX_CHANGES} changes; only the first ones are made.")
    for item in items[:MAX_CHANGES]:
        change = read_change(item.removeprefix(_OFF))
        if change is None:
            quoted = _quote(item.removeprefix(_OFF))
            sentences.append(f"The link's do={quoted} is not a change that the playground knows.")
        else:
            found.setdefault(change, MadeChange(change, not item.startswith(_OFF)))
    return Changes(tuple(found.values())), " ".join(sentences) or None


def _quote(text: str) -> str:
    """A text that is no change in quotation marks; with its `:` and `@` where these can make no link and no icon."""
    if len(text) <= _LONGEST_QUOTED and re.fullmatch(r"[0-9a-z_.]*:[0-9a-z_.]*(?:@[0-9.]*)?", text, re.ASCII):
        return f"“{text}”"
    return quote_text(text, longest=_LONGEST_QUOTED)


class FittedChanges(NamedTuple):
    """The changes that are switched on, divided by whether the run can have them."""

    applied: tuple[Change, ...] = ()
    reasons: Mapping[Change, str] = {}
    """Of those that cannot apply: why not, in one sentence each."""


def fit_changes(
    made: Iterable[MadeChange], config: ModelConfig, batch: Batch, sentence: int, *, causal: bool
) -> FittedChanges:
    """Divide the changes for one sentence of a batch, counted from 0; of two that exclude each other the first is in.

    With strength 0 a change applies and changes nothing.
    """
    subject = intervention_subject(config, batch, sentence, causal=causal)
    applied, refused = divide_changes(subject, tuple(change for change, is_on in made if is_on))
    return FittedChanges(applied, dict(refused))
