"""What a page looks at: a run and the pinned one, their names; changes by name, and the buttons that make them."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias, TypeVar

from playground.charts.chart import Button, Group, Item, Paragraph
from playground.charts.names import escape_markdown, name_place, shortened
from playground.charts.scene import Scene
from playground.errors import PlaygroundError
from playground.link.kinds import MAX_CHANGES, Changes, MadeChange, write
from playground.link.lab import Lab
from playground.link.opening import LinkedView
from playground.link.params import SHARED
from playground.model import change_texts
from playground.model.changes import Change
from playground.runs.encoder_run import Run
from playground.text.wording import quote_word
from playground.words import say

S = TypeVar("S")

Difference: TypeAlias = tuple[str, str]
"""What each side has, the pinned one first, such as `n_layers 6`."""

MOST_NAMED = 2
"""Differences that a side's name tells, at most; the page's top has them all."""


def run_scene(view: LinkedView) -> Scene[Run]:
    """Return the runs; raises as the present one."""
    return scene_of(lambda _, run: run, view)


def scene_of(read: Callable[[Lab, Run], S], view: LinkedView) -> Scene[S]:
    """Return what a page reads of the present run, and of the pinned one if it can run; raises as the run."""
    run = view.run
    now = Scene(read(view.lab, run), view.focus)
    if view.pinned is None:
        return now
    try:
        other = view.pinned.run
        pinned = read(view.pinned.lab, other)
    except PlaygroundError:  # the present run is shown alone; the page's top says why
        return now
    names = name_sides(list_differences(view.pinned.lab.values, view.lab.values), MOST_NAMED)
    return Scene(now.now, now.focus, pinned, *names, run.tokens == other.tokens)


def without_changes(view: LinkedView) -> LinkedView:
    """Return the view without changes of the computation; equal sides are not pinned."""
    lab = view.lab.without_changes
    pinned = None if view.pinned is None else without_changes(view.pinned)
    if pinned is not None and pinned.lab == lab:
        pinned = None
    return replace(view, lab=lab, pinned=pinned)


def list_differences(pinned: Mapping[str, Any], now: Mapping[str, Any]) -> list[Difference]:
    """Return every visible difference of two sets of sidebar values."""
    return [
        (_describe(key, pinned), _describe(key, now))
        for key in SHARED
        if pinned[key] != now[key] and (_has_effect(key, pinned) or _has_effect(key, now))
    ]


def _has_effect(key: str, values: Mapping[str, Any]) -> bool:
    if key == "vocab_size":
        return bool(values["tokenizer"] == "bpe")
    if key == "mask":
        return bool(values["weights"] == "english")
    return bool(values["weights"] in ("trained here", "english")) if key == "untrained" else True


_WEIGHTS = {
    "minilm": "trained weights",
    "english": "the small English",
    "random": "random weights",
    "mine": "your own weights",
    "trained here": "weights trained here",
}
_NAMES = {"untrained": "before training", "mask": "hidden word"}


def _describe(key: str, values: Mapping[str, Any]) -> str:
    value = values[key]
    if key == "do":
        return _name_made(value, values["n_layers"])
    if key == "weights":
        return _WEIGHTS[value]
    name = _NAMES.get(key, key if SHARED[key].kind == "size" else key.replace("_", " "))
    if isinstance(value, bool):
        return f"{name} {'on' if value else 'off'}"
    return f"{name} {quote_word(value, longest=24) if key == 'text' else write(value)}"


def _name_made(made: Changes, n_layers: int) -> str:
    on = group_layers([each for each, is_on in made.made if is_on], n_layers)
    if not on:
        return "changes switched off" if made else "no change"
    return f"“{name_changes(on[0])}”{f' and {len(on) - 1} more' if len(on) > 1 else ''}"


def name_sides(differences: Sequence[Difference], most: int | None = None) -> tuple[str, str]:
    """Return both sides' names by at most so many differences, such as `now (seed 3)`."""
    if not differences:
        return "pinned (the same)", "now (the same)"
    more = "" if most is None or len(differences) <= most else f" and {len(differences) - most} more"
    pinned, now = map(", ".join, zip(*differences[:most], strict=True))
    return f"pinned ({pinned}{more})", f"now ({now}{more})"


# --- changes of the computation

_LONGEST_TOKEN = 12


def name_change(change: Change, tokens: Sequence[str] = ()) -> str:
    """What it changes in a few words, such as `layer 3, head 1: it₁₀ ↛ animal₂`, with a strength below 1."""
    return change_texts.name_change(change, partial(name_token, tokens))


def name_changes(changes: Sequence[Change], tokens: Sequence[str] = ()) -> str:
    """What changes that are made together change in a few words: one, or one and the same in every layer."""
    told = name_change(changes[0], tokens)
    return told if len(changes) == 1 else told.replace(f"layer {changes[0].layer}", "every layer", 1)


def group_layers(changes: Sequence[Change], n_layers: int) -> list[tuple[Change, ...]]:
    """The changes as somebody makes them: a token that is hidden in every layer is one, at the place of its first."""
    alike: dict[Change, list[Change]] = {}
    for each in changes:
        if each.kind == "hide":
            alike.setdefault(replace(each, layer=None), []).append(each)
    groups: list[tuple[Change, ...]] = []
    for each in changes:
        same = alike.get(replace(each, layer=None), [])
        if n_layers < 2 or {other.layer for other in same} != set(range(n_layers)):
            groups.append((each,))
        elif each is same[0]:
            groups.append(tuple(same))
    return groups


def count_changes(run: Run) -> int:
    """How many changes a run has, as somebody makes them."""
    return len(group_layers(run.interventions, run.config.n_layers))


def name_tokens(sentence: str, tokens: Sequence[str]) -> str:
    """A sentence of the model, which counts tokens, with their words: `it₁₀` for `token 10`."""
    return re.sub(r"\btoken (\d+)\b", lambda found: name_token(tokens, int(found[1])), sentence)


def name_token(tokens: Sequence[str], token: int | None) -> str:
    """A token by its word and its place; by its place alone where the sentence has no such token."""
    if token is None or token >= len(tokens):
        return change_texts.count_token(token)
    word = " ".join(shortened(tokens[token], _LONGEST_TOKEN).split()) or "␣"
    return name_place(word, token)


def note_set_weights(run: Run, layer: int, head: int | None) -> str:
    """Which weights of a layer's head, or of all its heads with None, were set by hand, for a caption."""
    names = [
        escape_markdown(name_change(each, run.tokens))
        for each in run.interventions
        if each.point in (f"layers.{layer}.attn.scores", f"layers.{layer}.attn.pattern")
        and (head is None or each.head in (None, head))
    ]
    return f" Set by you: {'; '.join(names)}." if names else ""


def offer_changes(lab: Lab, key: str, offers: Mapping[str, Sequence[Change]]) -> Group:
    """Return a button for each offer, by its label: it makes its changes, or takes them back.

    A button whose changes cannot be made is grey, and a caption says why.
    """
    buttons: list[Item] = []
    reasons: list[str] = []
    for number, (label, wanted) in enumerate(offers.items()):
        name, icon, hint = f"{key}_{number}", ":material/question_exchange:", say("what_if", "offered")
        if wanted and lab.switched_on.issuperset(wanted):
            left = Changes(tuple(each for each in lab.changes if each.change not in wanted))
            undo = say("what_if", "offered.undo", label=label)
            buttons.append(Button(name, undo, {"do": left}, hint, ":material/undo:"))
            continue
        reason = _explain_refusal(lab, wanted)
        reasons.append(reason)
        made = {"do": _add_changes(lab["do"], wanted)}
        buttons.append(Button(name, label, made, reason or hint, icon, is_disabled=bool(reason) or not wanted))
    captions = (Paragraph(escape_markdown(reason), "caption") for reason in dict.fromkeys(filter(None, reasons)))
    return Group(key, (*buttons, *captions), is_row=True)


def _explain_refusal(lab: Lab, wanted: Sequence[Change]) -> str:
    """Return why changes cannot be made, and what to take back for them, in one sentence; empty if they can."""
    made = _add_changes(lab["do"], wanted)
    if len(made.made) > MAX_CHANGES:
        return say("frame", "changes-full", most=str(MAX_CHANGES))
    reasons = lab.at(lab.state.with_changes(made)).fitted_changes.reasons
    found = next((reasons[each] for each in wanted if each in reasons), "")
    return name_tokens(found, lab.batch.tokens[lab.sentence])


def _add_changes(made: Changes, wanted: Sequence[Change]) -> Changes:
    kept = (each for each in made.made if not any(_is_same_place(each.change, other) for other in wanted))
    return Changes((*kept, *map(MadeChange, wanted)))


def _is_same_place(one: Change, two: Change) -> bool:
    return replace(one, strength=1.0) == replace(two, strength=1.0)
