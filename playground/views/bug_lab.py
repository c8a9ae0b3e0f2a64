"""The page Bug lab: an encoder with a mistake, what was tested of it, who is suspected, and what it was."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from playground.analysis.comparison import name_point
from playground.charts import colour_scales, palette
from playground.charts import figure as figures
from playground.charts.chart import (
    Axis,
    Columns,
    Control,
    Group,
    Heatmap,
    Item,
    Options,
    Panel,
    Paragraph,
    Picture,
    Widget,
)
from playground.charts.figure import Array, Figure
from playground.charts.head_map import tensor_map
from playground.charts.scene import Scene
from playground.config import ACTIVATION_NAMES
from playground.link.opening import LinkedView
from playground.mistakes.bug_lab import (
    DECOYS,
    Attempt,
    Finding,
    Lab,
    LabTest,
    explain_innocence,
    explain_suspect,
    name_suspect,
    open_lab,
    simplest_tests,
)
from playground.mistakes.registry import MISTAKES
from playground.text.wording import count_noun, join_words, upper_first
from playground.views.mistakes import show_mistake


@dataclass(frozen=True, eq=False)
class ShownLab:
    """What the page looks at."""

    lab: Lab
    attempt: Attempt


def read_lab(values: Any) -> ShownLab:
    """What a link's values say: the case, and how far somebody is."""
    lab = open_lab(values["lab_seed"], values["lab_level"])
    return ShownLab(lab, Attempt(lab.case, tuple(values["lab_tests"]), tuple(values["lab_accused"])))


def linked_lab(view: LinkedView) -> Scene[ShownLab]:
    """What a link's page looks at."""
    return Scene(read_lab(view.values))


def show_bug_lab(scene: Scene[ShownLab], _: Options) -> Iterator[Item]:
    """The case, what can be tested beside what was found by now and who is suspected, and at the end what it was."""
    shown = scene.now
    attempt, lab = shown.attempt, shown.lab
    yield Paragraph(answer_how_far(shown), "answer")
    ways_on = Group("lab_case", (Control("lab_level", "Level"), Widget("lab_next", {"attempt": attempt})), is_row=True)
    case = Paragraph(_describe_case(lab))
    parts = Panel("", "What the encoder should be, part by part", (Paragraph(_describe_parts(lab)),))
    if attempt.is_solved:
        yield ways_on
        yield from _reveal(lab)
        yield case
        yield parts
        yield Group(EVIDENCE, tuple(_show_evidence(shown)))
    else:
        yield case
        evidence = Group(EVIDENCE, (*_show_evidence(shown), *_show_suspects(shown)))
        yield Columns(((Widget("lab_tests", {"attempt": attempt}), parts), (evidence,)), (2, 3))
        yield ways_on


EVIDENCE = "lab_evidence"
"""Key of the group of all that tests have shown, and of who is suspected then."""

VERDICT = "lab_verdict"
"""Key of the group that says why those are none who were accused wrongly."""

_IN_A_ROW = 2
"""Suspects side by side."""


def _show_suspects(shown: ShownLab) -> Iterator[Item]:
    """A card each: what it is suspected to be, and what that means; above, why those are none that were accused."""
    attempt = shown.attempt
    n = len(attempt.case.mistakes) - len(attempt.found)
    left = "Which is it?" if n == len(attempt.case.mistakes) == 1 else "Which is the other?" if n == 1 else "Which two?"
    yield Paragraph(f"**Suspects. {left}** Some sound like mistakes but are correct choices.")
    if attempt.wrong:
        told = [_explain_innocence(shown, key) for key in reversed(attempt.wrong)]
        yield Group(VERDICT, tuple(told), is_card=True)
    cards = [_show_suspect(shown, key) for key in attempt.case.suspects]
    for first in range(0, len(cards), _IN_A_ROW):
        yield Columns(tuple((each,) for each in cards[first : first + _IN_A_ROW]), gap="small")


def _show_suspect(shown: ShownLab, key: str) -> Group:
    button = Widget("lab_suspect", {"key": key, "attempt": shown.attempt})
    items = (button, Paragraph(explain_suspect(key), "caption"))
    return Group(f"lab_suspect_{key.replace('-', '_')}", items, gap="xsmall")


def _explain_innocence(shown: ShownLab, key: str) -> Paragraph:
    reason = upper_first(explain_innocence(shown.lab, key, _name_tensor))
    return Paragraph(f"**Not “{upper_first(name_suspect(key))}”.** {reason}")


def _name_tensor(name: str) -> str:
    layer, _, point = name_point(name).partition(", ")
    return f"{point} of {layer}" if point else layer


def _show_evidence(shown: ShownLab) -> Iterator[Item]:
    """What every test has shown, the newest first; the others are a line each, to be opened."""
    taken = list(enumerate(shown.attempt.taken, start=1))
    if not taken:
        yield Paragraph("**What you see** will stand here. Each test adds one finding.", "caption")
        return
    yield Paragraph("**What you have seen**, the newest first:")
    for number, test in reversed(taken):
        found = test.run(shown.lab)
        title, items = f"**{number}. {test.title}**", tuple(_show_finding(test, found))
        if number == len(taken):
            yield Group(f"lab_finding_{number}", (Paragraph(title), *items), is_card=True)
        else:
            yield Panel("", title, items)


def answer_how_far(shown: ShownLab) -> str:
    """What is to be found, or was found."""
    attempt = shown.attempt
    n, n_found = len(attempt.case.mistakes), len(attempt.found)
    if attempt.is_solved:
        titles = join_words([f"**{name_suspect(key)}**" for key in attempt.case.mistakes])
        best = join_words([f"“{test.title}”" for test in dict.fromkeys(simplest_tests(shown.lab))])
        return f"Found: {titles}. Simplest {'test that shows it' if n == 1 else 'tests that show them'}: {best}."
    what = "one mistake" if n == 1 else "two mistakes"
    goal = f"Somebody's encoder runs, but it has **{what}**: find {'it' if n == 1 else 'both'} with few tests."
    found = f"One is found: **{name_suspect(attempt.found[0])}**." if n_found else ""
    return f"{goal} {found or 'Press a suspect that would explain what you see.'}"


_MASKS = {
    "none": "no mask: every token looks at every token",
    "padding": "a padding mask: nobody should look at the last two tokens, which are padding",
    "causal": "a causal mask: no token should look at a later one",
}

_PLACES = {"pre": "before", "post": "after"}
"""Where a norm stands, by its placement."""


def _describe_case(lab: Lab) -> str:
    """What it reads."""
    return (
        f"**Case {lab.case.seed}.** A small encoder with random weights reads *{' '.join(lab.tokens)}*, with "
        f"{_MASKS[lab.case.mask]}."
    )


def _describe_parts(lab: Lab) -> str:
    """What its maker meant it to be."""
    config = lab.config
    parts = (
        f"{count_noun(config.n_layers, 'layer')} of {count_noun(config.n_heads, 'head')} each; both are counted from 0",
        f"each token is a vector of {config.d_model} numbers (d_model); a head works with {config.head_width} of them "
        "(d_head)",
        f"the feed-forward network has {config.d_ff} numbers in between (d_ff), and "
        f"{ACTIVATION_NAMES[config.activation]} as its activation",
        f"{config.norm_placement}-norm: a norm stands {_PLACES[config.norm_placement]} each sublayer, that is, "
        "attention and the feed-forward network",
        "sinusoidal positions: a row of waves is added to each token's vector, after that is multiplied by √d_model",
    )
    return "\n".join(f"- {part}." for part in parts)


def _show_finding(test: LabTest, found: Finding) -> Iterator[Item]:
    """A test's result: its sentence, then its maps or curves."""
    yield Paragraph(found.sentence)
    key = test.key.replace("-", "_")
    shared = list(found.maps.values())
    for place, (title, values) in enumerate(found.maps.items()):
        yield _draw_map(f"lab_{key}_{place}", title, values, shared, of_tokens=found.of_tokens)
    if found.curves:
        yield Picture[ShownLab](
            key=f"lab_{key}_curves",
            alt="Two lines: the loss by step, of this encoder and of a right one.",
            caption="**Loss by step**, the mean over a batch, in nats: both learn from the same sequences.",
            figure=lambda _: _draw_losses(found),
            compares=False,
        )


def _draw_map(key: str, title: str, values: Array, shared: Sequence[Array], *, of_tokens: bool) -> Heatmap[ShownLab]:
    what = "a query, the token that looks; a column a key, the token looked at" if of_tokens else "a token"
    return tensor_map(
        values,
        shared,
        key=key,
        alt=f"{title}, as colours.",
        caption=f"**{upper_first(title)}.** A row is {what}. {colour_scales.describe_around_zero(shared)}",
        rows=Axis("query" if of_tokens else "token", _name_tokens),
        columns=Axis("key", _name_tokens) if of_tokens else Axis("number"),
    )


def _name_tokens(shown: ShownLab) -> list[str]:
    return [f"{token} ({place})" for place, token in enumerate(shown.lab.tokens)]


def _draw_losses(found: Finding) -> Figure:
    colours = (palette.CHANGE, palette.MUTED)
    traces = [
        trace
        for (name, losses), colour in zip(found.curves.items(), colours, strict=True)
        for trace in figures.curve_traces(
            figures.Curve(name, np.arange(1, len(losses) + 1), np.asarray(losses, np.float32), colour, marker=0)
        )
    ]
    axes = {"xaxis": {"title": "step"}, "yaxis": {"title": "loss, nats", "rangemode": "tozero"}}
    return figures.style(traces, axes, height=280, legend=True)


def _reveal(lab: Lab) -> Iterator[Item]:
    """Each mistake: its lines, how it shows, and what cannot show it; then the decoy."""
    for key in lab.case.mistakes:
        yield from show_mistake(MISTAKES[key], lab.config)
    for key in lab.case.suspects:
        if key in DECOYS:
            yield Paragraph(f"**Looks wrong, and is right:** {name_suspect(key)}. {explain_innocence(lab, key)}")
