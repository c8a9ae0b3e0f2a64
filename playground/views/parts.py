"""What each part of an encoder is for: what trained encoders of the small English lose without it.

Legend: R encoders, the base first; C capabilities.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd

from playground.accounting import count_parameters
from playground.charts import figure as figures
from playground.charts import palette
from playground.charts.chart import Axis, Group, Heatmap, Item, Options, Paragraph, Picture, Widget, fill_panel
from playground.charts.colour_scales import Colours
from playground.charts.figure import Array, Figure
from playground.charts.scene import Scene
from playground.config import SETTINGS
from playground.language.answers import answer_example, find_difference, write_masked
from playground.language.capabilities import CAPABILITIES
from playground.language.family import (
    STOPS,
    compared_specs,
    is_shipped,
    load_shipped,
    seeds_of,
    shares_of,
    shipped_specs,
    table,
)
from playground.language.network import Spec
from playground.text.wording import count_noun, join_words, upper_first

GUESSING, CHANCE = 0.6, 0.5
"""A share up to the first is called no better than guessing, which gets the second: two words are always possible."""

LEAST_CHANGE = 0.05
"""Differences from the base that are smaller are not reported."""

TITLES = tuple(capability.title for capability in CAPABILITIES.values())
"""The capabilities' titles, in the order of the columns."""

VALUES: dict[tuple[str, Any], str] = {
    ("positions", "none"): "no positions",
    ("positions", "alibi"): "ALiBi positions",
    ("norm_placement", "post"): "post-norm",
    ("norm_placement", "both"): "pre- and post-norm",
    ("norm", "rms"): "RMS norm",
    ("norm", "none"): "no norms",
    ("residual", False): "no residuals",
    ("causal", True): "causal mask",
}
"""The names of settings that are not told by their value."""


def list_settings(spec: Spec) -> dict[str, Any]:
    """Return the settings of an encoder that the base does not have, and their values."""
    base, own = ({**vars(each.config), "causal": each.causal} for each in (Spec(), spec))
    return {name: own[name] for name in STOPS if own[name] != base[name]}


def name_spec(spec: Spec) -> str:
    """Name an encoder by what it changes, such as `no positions`."""
    return ", ".join(name_value(*setting) for setting in list_settings(spec).items()) or "base"


def name_value(setting: str, value: Any) -> str:
    """Name the value of a setting, such as `1 layer`."""
    if setting in ("n_layers", "n_heads"):
        return count_noun(value, setting[2:-1])
    return VALUES.get((setting, value)) or (f"width {value}" if setting == "d_model" else f"{value} positions")


@dataclass(frozen=True, eq=False)
class Parts:
    """The base and the measured encoders that change one setting of it, with their shares right over the seeds."""

    specs: tuple[Spec, ...]
    mean: Array
    """(R, C)"""
    low: Array
    """(R, C): of the worst seed."""
    high: Array
    """(R, C): of the best seed."""

    @property
    def names(self) -> list[str]:
        """What the encoders are called."""
        return [name_spec(spec) for spec in self.specs]

    def rows_of(self, setting: str) -> list[int]:
        """Return the rows that change a setting."""
        return [row for row, spec in enumerate(self.specs) if setting in list_settings(spec)]


def read_parts() -> Scene[Parts]:
    """Return what was measured of the base and of every single change."""
    seeds = {spec: rows for spec in compared_specs() if (rows := seeds_of(spec))}
    shares = [np.array([[row.shares[name] for name in CAPABILITIES] for row in rows]) for rows in seeds.values()]
    mean, low, high = (np.array([take(each, axis=0) for each in shares]) for take in (np.mean, np.min, np.max))
    return Scene(Parts(tuple(seeds), mean, low, high))


def show_parts(scene: Scene[Parts], options: Options) -> Iterator[Item]:
    """What costs most, what every change costs, one sentence and the answers of two encoders, and every setting."""
    parts = scene.now
    if len(parts.specs) < 2:
        yield Paragraph("The encoders of the small English are not there yet; they are being trained.", "info")
        return
    row, column = min(options["parts_row"], len(parts.specs) - 1), options["parts_column"]
    yield Paragraph(answer_parts(parts), "answer")
    yield _capability_table(row, column)
    yield Group("parts_cell", tuple(_show_cell(parts, row, column)))
    yield Paragraph("What each setting costs", "header")
    yield Paragraph("\n".join(f"- {describe_setting(parts, name)}" for name in STOPS if parts.rows_of(name)))
    title, icon = "Does a larger encoder do better?", ":material/scatter_plot:"
    yield fill_panel(options, "parts_closer", title, lambda: [_by_parameters(parts.specs[row])], icon)


def answer_parts(parts: Parts) -> str:
    """Say which change costs most (markdown)."""
    row = 1 + int(parts.mean[1:].mean(axis=1).argmin())
    n = len(parts.specs) - 1
    return f"Of {n} changes of one setting, **{parts.names[row]}** costs most: {describe_loss(parts, row)}."


def describe_loss(parts: Parts, row: int) -> str:
    """Say what an encoder loses beside the base; empty if no loss is larger than what the seed does (markdown)."""
    lost = np.where(parts.high[row] < parts.low[0], parts.mean[0] - parts.mean[row], 0)
    worst = int(lost.argmax())
    if lost[worst] < LEAST_CHANGE:
        return ""
    n_fallen = int(((parts.mean[row] <= GUESSING) & (parts.mean[0] > GUESSING)).sum())
    fall = f"*{TITLES[worst]}* falls from {parts.mean[0, worst]:.2f} to {parts.mean[row, worst]:.2f}"
    return fall if n_fallen < 2 else f"{n_fallen} of {len(TITLES)} capabilities fall to guessing"


def describe_setting(parts: Parts, setting: str) -> str:
    """Say in one sentence what the values of a setting lose and gain beside the base (markdown)."""
    rows = parts.rows_of(setting)
    worst = min(rows, key=lambda row: float(parts.mean[row].mean()))
    gains = np.where(parts.low[rows] > parts.high[0], parts.mean[rows] - parts.mean[0], 0)  # (rows, C)
    best, column = divmod(int(gains.argmax()), len(TITLES))
    said = [f"{loss} ({parts.names[worst]})"] if (loss := describe_loss(parts, worst)) else []
    if gains[best, column] >= LEAST_CHANGE:
        before, after = parts.mean[0, column], parts.mean[rows[best], column]
        said.append(f"*{TITLES[column]}* rises from {before:.2f} to {after:.2f} ({parts.names[rows[best]]})")
    label = "causal mask" if setting == "causal" else SETTINGS[setting].label
    return f"**{upper_first(label)}:** {'; '.join(said) or 'nothing, at this size'}."


def _capability_table(row: int, column: int) -> Heatmap[Parts]:
    """The mean share right of every encoder and capability, with the chosen cell framed."""

    def spreads(parts: Parts) -> pd.DataFrame:
        cells = [
            [f"{mean:.2f} ({low:.2f}–{high:.2f})" for mean, low, high in zip(*numbers, strict=True)]
            for numbers in zip(parts.mean, parts.low, parts.high, strict=True)
        ]
        return pd.DataFrame(cells, pd.Index(parts.names, name="encoder"), pd.Index(TITLES))

    return Heatmap(
        key="capability_table",
        alt="Heatmap of the share of hidden words that trained encoders get right, by capability",
        caption="Share of hidden words that are right, the mean of three seeds. Each row changes one setting of the "
        f"base. Grey: at most {GUESSING:.2f}, where guessing gets {CHANCE:.2f}. Click a cell for a sentence.",
        values=lambda parts: parts.mean,
        shown=lambda parts: parts.mean > GUESSING,
        rows=Axis("", lambda parts: parts.names, place="parts_row", options={"dtick": 1}),
        columns=Axis("", lambda _: TITLES, place="parts_column", options={"side": "top", "dtick": 1}),
        chosen={"parts_row": row, "parts_column": column},
        click="The chosen encoder, in its row, and the capability, in its column. Arrow keys move them.",
        bar="",
        hover="%{y}, %{x}",
        more="more right answers",
        opens="parts_cell",
        number=".2f",
        written=".2f",
        colours=lambda _: Colours({"zmin": CHANCE, "zmax": 1}),
        gap=1,
        height_of=lambda n_rows: 96 + 22 * n_rows,
        least_cell=46,
        table=spreads,
        table_title="The numbers, with the range of the seeds",
        compares=False,
    )


def _show_cell(parts: Parts, row: int, column: int) -> Iterator[Item]:
    """What the chosen encoder has of the chosen capability: the share, a sentence and its answers, and a button."""
    spec, name, capability = parts.specs[row], parts.names[row], tuple(CAPABILITIES.values())[column]
    low, high = parts.low[row, column], parts.high[row, column]
    share = f"{parts.mean[row, column]:.2f} right ({low:.2f}–{high:.2f})"
    yield Paragraph(f"**{name}, {capability.title}:** {share}. {capability.takes}")
    if not (is_shipped(spec) and is_shipped(Spec())):
        return
    networks = {"base": load_shipped(Spec()), name: load_shipped(spec)}
    example = find_difference(networks["base"], networks[name], capability)
    lines = [f"“{write_masked(example)}” Right: *{example.answer}*.", ""]
    for each, network in networks.items():
        answer = answer_example(network, example)
        words = ", ".join(f"*{word}* {probability:.2f}" for word, probability in answer.probabilities.items())
        head = f"head {answer.head} of layer {answer.layer} costs *{example.answer}* most: {answer.cost:.2f}"
        lines.append(f"- **{each}:** {words}. " + (f"Removing {head}." if answer.cost >= LEAST_CHANGE else ""))
    yield Paragraph("\n".join(lines))
    yield Widget("open_encoder", {"settings": list_settings(spec)})


def _by_parameters(chosen: Spec) -> Picture[Parts]:
    """A dot for each shipped encoder: parameters across, mean share right up."""
    specs = [spec for spec in shipped_specs() if is_shipped(spec)]
    frame = pd.DataFrame(
        {
            "parameters": [count_parameters(spec.config).total for spec in specs],
            "mean share right": [np.mean(list(table()[spec.key].shares.values())) for spec in specs],
        },
        pd.Index([name_spec(spec) for spec in specs], name="encoder"),
    )
    return Picture(
        key="capability_by_parameters",
        alt=f"{count_noun(len(specs), 'encoder')}: parameters across, mean share of right words up",
        caption="A dot is an encoder that comes with the playground: its parameters, and its mean share right over "
        "the ten capabilities. The chosen one is red. Hover over a dot for its name.",
        figure=lambda _: _draw_dots(frame, name_spec(chosen)),
        table=lambda _: frame,
        compares=False,
    )


def _draw_dots(frame: pd.DataFrame, chosen: str) -> Figure:
    dots = {
        "type": "scatter",
        "mode": "markers",
        "x": frame["parameters"].to_numpy(),
        "y": frame["mean share right"].to_numpy(),
        "customdata": list(frame.index),
        "marker": {
            "size": 9,
            "color": [palette.FOCUS if name == chosen else palette.ATTENTION for name in frame.index],
        },
        "hovertemplate": "%{customdata}<br>%{x:,} parameters, %{y:.2f} right<extra></extra>",
    }
    ticks = {"tickvals": [3_000, 10_000, 30_000, 100_000, 300_000], "tickformat": ","}
    x_axis = {"title": "parameters (log scale)", "type": "log", **ticks}
    return figures.style([dots], {"xaxis": x_axis, "yaxis": {"title": "mean share right"}}, height=380)


LOST = 0.7
"""A capability is lost if its share is below; guessing gets half."""


def describe_lost(spec: Spec) -> str:
    """Which of the base's capabilities an encoder has lost, with the mean of their shares."""
    base, own = shares_of(Spec()), shares_of(spec)
    lost = {name: shares for name, shares in own.items() if fmean(shares) < LOST <= fmean(base[name])}
    if not lost:
        return "It still has every capability of the base."
    named = [f"*{CAPABILITIES[name].title}* {fmean(shares):.2f}" for name, shares in lost.items()]
    seeds = count_noun(len(next(iter(lost.values()))), "seed")
    return f"Lost, by the share right over {seeds}: {join_words(named)}. Guessing gets {CHANCE:.2f}."
