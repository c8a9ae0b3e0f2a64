"""Take a part away: guess what an encoder of the small English loses without positions, then see it, then one layer."""

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from playground.language.capabilities import CAPABILITIES
from playground.language.family import change, shares_of
from playground.language.network import Spec
from playground.learn.tour import Choices, Conclusion, Evidence, SmallNumbers, Step, Tour, TourState, judge_guess
from playground.link import english
from playground.link.changes import Changes
from playground.views.parts import describe_lost

ASKED = "who_did_what"
"""What falls without positions, of the three that can be guessed."""

GUESSES: Mapping[str, str] = {name: CAPABILITIES[name].title for name in (ASKED, "negation", "it_or_they")}


def _start(_: Evidence) -> Choices:
    """The base with its first sentence."""
    return {"weights": "english", "untrained": False, "do": Changes(), **english.default_settings({}),
            **english.values_of(Spec())}  # fmt: skip


def _move(**settings: Any) -> Choices:
    return english.values_of(change(**settings))


def _judge(evidence: Evidence) -> str:
    spec, guess = change(positions="none"), evidence.state.answers.get("guess", "")
    judged = judge_guess(guess, ASKED, GUESSES) if guess in GUESSES else ""
    return f"{describe_lost(spec)} {judged}"


def _is_shown(state: TourState, **settings: Any) -> bool:
    wanted = _move(**settings)
    return state.values["weights"] == "english" and all(state.values[key] == wanted[key] for key in settings)


def conclude(_: Evidence) -> Conclusion:
    """What positions are worth to *who did what*, tested over three seeds."""
    having, lacking = shares_of(Spec())[ASKED], shares_of(change(positions="none"))[ASKED]
    title = CAPABILITIES[ASKED].title
    held = min(having) > max(lacking)
    return Conclusion(
        f"without positions, *{title}* is right in {fmean(lacking):.0%} of new sentences, with them in "
        f"{fmean(having):.0%}.",
        f"A claim: *{title}* needs the order of the words. Then the worst of three seeds with positions is better than "
        f"the best without: {min(having):.2f} and {max(lacking):.2f}.",
        "held" if held else "refuted",
        "The page Parts has this number for every setting.",
    )


def _draw_numbers(_: Evidence) -> SmallNumbers:
    with_positions = fmean(shares_of(Spec())[ASKED])
    return SmallNumbers(
        {"with positions": f"{with_positions:.2f}", "without": "?"},
        "*The dog bit the man, so the victim is the …*: the share of new sentences that it completes correctly.",
    )


PARTS = Tour(
    name="parts",
    title="Take a part away.",
    question="What is each part of an encoder for? Remove one, and see what it can no longer do.",
    minutes=3,
    page="attention",
    starts=_start,
    steps=(
        Step(
            "guess",
            lambda _: "This encoder has learnt a small English. Which of these will it no longer do without positions?",
            lambda state: "guess" in state.answers,
            page="attention",
            answers=lambda _: GUESSES,
        ),
        Step(
            "positions",
            lambda _: "In the sidebar, set **positions** to **none**.",
            lambda state: _is_shown(state, positions="none"),
            page="attention",
            sets=lambda _: _move(positions="none"),
            result=_judge,
        ),
        Step(
            "layers",
            lambda _: "Now bring **rotary** positions back, and set **layers** to **1**.",
            lambda state: _is_shown(state, positions="rotary", n_layers=1),
            page="attention",
            sets=lambda _: _move(n_layers=1),
            result=lambda _: describe_lost(change(n_layers=1)),
        ),
    ),
    conclude=conclude,
    picture=_draw_numbers,
    onward=("parts", "See what every setting is for"),
)
