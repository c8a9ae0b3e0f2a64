"""The page Bug lab: an encoder with a mistake, what was tested of it, who is suspected, and what it was."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from playground.charts import figure as figures
from playground.charts import palette
from playground.charts.chart import (
    Axis,
    Columns,
    Control,
    Group,
    Heatmap,
    Item,
    Options,
    Paragraph,
    Picture,
    Widget,
)
from playground.charts.figure import Array, Figure
from playground.charts.scene import Scene
from playground.link.opening import Focus, LinkedView
from playground.mistakes.bug_lab import (
    DECOYS,
    NOBODY,
    Attempt,
    Finding,
    Lab,
    LabTest,
    cheapest_tests,
    explain_innocence,
    name_suspect,
    open_lab,
)
from playground.mistakes.registry import MISTAKES
from playground.text.wording import join_words, upper_first
from playground.views.mistakes import show_mistake


@dataclass(frozen=True, eq=False)
class ShownLab:
    """What the page looks at."""

    lab: Lab
    attempt: Attempt
    to_beat: int = NOBODY
    """What the case has cost whoever sent the link, or `NOBODY`."""


def read_lab(values: Any) -> ShownLab:
    """What a link's values say: the case, and how far somebody is."""
    lab = open_lab(values["lab_seed"], values["lab_level"])
    attempt = Attempt(lab.case, tuple(values["lab_tests"]), tuple(values["lab_accused"]))
    return ShownLab(lab, attempt, values["lab_beat"])


def linked_lab(view: LinkedView) -> Scene[ShownLab]:
    """What a link's page looks at."""
    return Scene(read_lab(view.values), Focus(0, 0, 0, 0))


def show_bug_lab(scene: Scene[ShownLab], _: Options) -> Iterator[Item]:
    """The case, what was found by now, and at the end what it was."""
    shown = scene.now
    attempt, lab = shown.attempt, shown.lab
    yield Paragraph(answer_how_far(shown), "answer")
    if attempt.is_solved:
        yield from _reveal(lab)
    yield Paragraph(_describe_case(lab))
    for key in attempt.wrong:
        yield Paragraph(f"**Not this one:** {name_suspect(key)}. {explain_innocence(lab, key)}", "info")
    findings = [_show_finding(test, test.run(lab), number) for number, test in enumerate(attempt.taken, start=1)]
    yield from findings[-1:]
    if not attempt.is_solved:
        yield Widget("lab_suspects", {"attempt": attempt})
        yield Widget("lab_tests", {"attempt": attempt})
    yield from findings[-2::-1]
    yield Group("lab_case", (Control("lab_level", "Level"), Widget("lab_next", {"attempt": attempt})), is_row=True)
    if attempt.is_solved:
        yield Widget("lab_link", {"attempt": attempt})


def answer_how_far(shown: ShownLab) -> str:
    """What is to be found or was found, and for how many points."""
    attempt = shown.attempt
    beat = f" Whoever sent you this case found it for **{shown.to_beat}**." if shown.to_beat > NOBODY else ""
    spent = f"**{attempt.cost} {'point' if attempt.cost == 1 else 'points'}**"
    n, n_found = len(attempt.case.mistakes), len(attempt.found)
    if attempt.is_solved:
        titles = join_words([f"**{name_suspect(key)}**" for key in attempt.case.mistakes])
        best = join_words([f"“{test.title}” ({test.cost})" for test in dict.fromkeys(cheapest_tests(shown.lab))])
        shows = "The cheapest test that shows it" if n == 1 else "The cheapest that show them"
        return f"Found, for {spent}: {titles}. {shows}: {best}.{beat}"
    what = "one mistake" if n == 1 else "two mistakes"
    spent = (
        f"You have spent {spent}"
        if attempt.cost
        else "Each test below shows something that it computes, and costs points. Then press the suspect"
        f"{'' if n == 1 else 's'} that explain{'s' if n == 1 else ''} what you saw"
    )
    found = f" One is found: **{name_suspect(attempt.found[0])}**." if n_found else ""
    goal = f"Somebody's encoder runs, but it has **{what}**: find {'it' if n == 1 else 'both'} with few points."
    return f"{goal} {spent}.{found}{beat}"


_MASKS = {"none": "no mask", "padding": "a padding mask, for the two last tokens", "causal": "a causal mask"}


def _describe_case(lab: Lab) -> str:
    """What its maker says of it."""
    case, config = lab.case, lab.config
    return (
        f"**Case {case.seed}: what the encoder is to be.** {config.n_layers} layers × {config.n_heads} "
        f"heads, d_model {config.d_model}, d_ff {config.d_ff}, {config.norm_placement}-norm, "
        f"{config.activation}, sinusoidal positions, {_MASKS[case.mask]}. It reads: *{' '.join(lab.tokens)}*. "
        "The weights are random."
    )


def _show_finding(test: LabTest, found: Finding, number: int) -> Group:
    """A test's result: its sentence, then its maps or curves."""
    points = "1 point" if test.cost == 1 else f"{test.cost} points"
    items: list[Item] = [Paragraph(f"**{number}. {test.title}** ({points}). {found.sentence}")]
    key = test.key.replace("-", "_")
    if found.maps:
        shared = list(found.maps.values())
        maps = [
            (_draw_map(f"lab_{key}_{place}", title, values, shared, of_tokens=found.of_tokens),)
            for place, (title, values) in enumerate(found.maps.items())
        ]
        items.append(Columns(tuple(maps)) if len(maps) > 1 else Columns((maps[0], ()), (2, 1)))
    if found.curves:
        items.append(
            Picture[ShownLab](
                key=f"lab_{key}_curves",
                alt="Two lines: the loss by step, of this encoder and of a right one.",
                caption="**Loss by step**, the mean over a batch, in nats: both learn from the same sequences.",
                figure=lambda _: _draw_losses(found),
                compares=False,
            )
        )
    return Group(f"lab_finding_{key}", tuple(items), is_card=True)


def _draw_map(key: str, title: str, values: Array, maps: Sequence[Array], *, of_tokens: bool) -> Heatmap[ShownLab]:
    finite = np.where(np.isfinite(values), values, np.nan)
    what = "a token, a column one that it may look at" if of_tokens else "a token"
    rows, columns = (partial(_name_tokens, n) for n in values.shape)
    return Heatmap(
        key=key,
        alt=f"{title}, as colours.",
        caption=f"**{upper_first(title)}.** A row is {what}. {figures.describe_around_zero(maps)}",
        values=lambda _: finite,
        rows=Axis("token", rows),
        columns=Axis("key", columns) if of_tokens else Axis("number"),
        bar="",
        hover="%{y}, %{x}",
        more="a larger number",
        colours=lambda _: figures.around_zero()(maps),
        compares=False,
    )


def _name_tokens(n: int, shown: ShownLab) -> list[str]:
    return [f"{token} ({place})" for place, token in enumerate(shown.lab.tokens)][:n]


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
        yield from show_mistake(MISTAKES[key])
    for key in lab.case.suspects:
        if key in DECOYS:
            yield Paragraph(f"**Looks wrong, and is right:** {name_suspect(key)}. {explain_innocence(lab, key)}")
