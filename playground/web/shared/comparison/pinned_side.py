"""The pinned settings as pages show them: their setup, their run, and what they are called beside the present ones."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from playground.analysis.run_differences import have_same_tokens
from playground.charts.markdown import escape_markdown
from playground.errors import PlaygroundError
from playground.link.kinds import Size
from playground.link.params import SHARED, write
from playground.runs.encoder_run import Run
from playground.text.wording import quote_word
from playground.web.choices.pinned import pinned_values
from playground.web.choices.setup import Setup, current_setup, pinned_setup
from playground.web.session import caches

_MOST_NAMED = 2
"""Differences that a side's name tells, at most; the page's top has them all."""


@dataclass(frozen=True)
class Difference:
    """One choice that is not the same on both sides, in words."""

    name: str
    pinned: str
    now: str


@dataclass(frozen=True)
class PinnedSide:
    """What is pinned, and how charts call the two sides: by what differs."""

    setup: Setup
    name: str
    now: str
    """The present side's name."""


@dataclass(frozen=True)
class PinnedRun:
    """The run of the pinned settings, for charts that show it beside the present one."""

    side: PinnedSide
    run: Run
    has_same_tokens: bool
    """Whether it read the tokens that the present run read: what belongs to a token has no counterpart else."""

    @property
    def name(self) -> str:
        """What captions call it, in markdown."""
        return escape_markdown(self.side.name)


def pinned_side() -> PinnedSide | None:
    """What is pinned beside the present settings; None where nothing is."""
    setup = pinned_setup()
    if setup is None:
        return None
    differences = list_differences(setup.values, current_setup().values)
    return PinnedSide(
        setup,
        _name_side("pinned", [f"{each.name} {each.pinned}" for each in differences]),
        _name_side("now", [f"{each.name} {each.now}" for each in differences]),
    )


def run_pinned(side: PinnedSide | None) -> Run | None:
    """The run of the pinned settings; None where nothing is pinned or it cannot be run.

    `explain_pinned_run` in `pin_line` says why not, once a page. A fragment calls this anew, as `panels.shown_run`.
    """
    if side is None or not side.setup.text.sentences:
        return None
    try:
        return caches.run_sentence(side.setup.run_key)
    except PlaygroundError:
        return None


def beside(run: Run) -> PinnedRun | None:
    """The pinned run beside this one, the present; None as of `run_pinned`."""
    side = pinned_side()
    pinned = run_pinned(side)
    return PinnedRun(side, pinned, have_same_tokens(run, pinned)) if side and pinned else None


def beside_same_tokens(run: Run, what: str) -> PinnedRun | None:
    """As `beside`, and None with a sentence where the pinned run read other tokens: `what`, a plural, is not shown."""
    pinned = beside(run)
    if pinned is None or pinned.has_same_tokens:
        return pinned
    say_other_tokens(what)
    return None


def say_other_tokens(what: str) -> None:
    """One sentence on why `what`, a plural, is not shown of the pinned settings."""
    st.caption(f"The pinned settings read other tokens, so {what} are shown for the present settings alone.")


def say_present_alone(what: str) -> None:
    """One sentence, where anything is pinned, on what a view shows of the present settings only: a plural."""
    if pinned_values() is not None:
        st.caption(f"This view shows {what} of the present settings alone. **Swap** shows the pinned ones instead.")


def list_differences(pinned: Mapping[str, Any], now: Mapping[str, Any]) -> list[Difference]:
    """Every choice in which two sets of the sidebar's values differ, in the sidebar's order."""
    return [
        Difference(_name(key), _word(key, pinned[key]), _word(key, now[key]))
        for key in SHARED
        if pinned[key] != now[key] and (_has_effect(key, pinned) or _has_effect(key, now))
    ]


def _has_effect(key: str, values: Mapping[str, Any]) -> bool:
    """Whether a choice has a meaning beside the others; those that nobody sees are no difference."""
    if key == "vocab_size":
        return bool(values["tokenizer"] == "bpe")
    return bool(values["weights"] == "trained here") if key == "untrained" else True


def _name(key: str) -> str:
    """What a choice is called: sizes by their names in code, others in words."""
    if key == "untrained":
        return "before training"
    if key == "do":
        return "what if"
    return key if isinstance(SHARED[key], Size) else key.replace("_", " ")


def _word(key: str, value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if key == "do":
        return quote_word(str(value), longest=24) if value else "nothing"
    return quote_word(value, longest=24) if key == "text" else write(value)


def _name_side(side: str, words: list[str]) -> str:
    more = f" and {len(words) - _MOST_NAMED} more" if len(words) > _MOST_NAMED else ""
    return f"{side}: {', '.join(words[:_MOST_NAMED])}{more}" if words else f"{side}: the same"
