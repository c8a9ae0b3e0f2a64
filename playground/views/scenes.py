"""What a page looks at: a run and the pinned one, and their names."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

from playground.charts.scene import Scene
from playground.errors import PlaygroundError
from playground.link.kinds import Changes, write
from playground.link.lab import Lab
from playground.link.opening import LinkedView
from playground.link.params import SHARED
from playground.runs.encoder_run import Run
from playground.text.wording import quote_word
from playground.views.change_names import group_layers, name_changes

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
