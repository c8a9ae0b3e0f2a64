"""What each part of an encoder is for: what trained encoders of the small English lose without it.

Legend: R encoders, the base first; C capabilities. The other view of the page, the ladder, is in `parts_ladder`.
"""

from collections.abc import Iterator
from statistics import fmean
from typing import Any

import numpy as np

from playground.charts.chart import Control, Group, Item, Options, Paragraph, Widget
from playground.charts.scene import Scene
from playground.config import SETTINGS
from playground.language.answers import answer_example, find_difference, write_masked
from playground.language.capabilities import CAPABILITIES
from playground.language.family import (
    STOPS,
    compared_specs,
    is_shipped,
    load_shipped,
    shares_of,
)
from playground.language.network import Spec
from playground.pages import LADDER
from playground.text.wording import count_noun, join_words, upper_first
from playground.views.capability_shares import (
    CHANCE,
    GUESSING,
    TITLES,
    CapabilityShares,
    capability_table,
    read_shares,
)
from playground.views.parts_ladder import read_ladder, show_ladder

LEAST_CHANGE = 0.05
"""Differences from the base that are smaller are not reported."""

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


def rows_of(parts: CapabilityShares, setting: str) -> list[int]:
    """Return the rows that change a setting."""
    return [row for row, spec in enumerate(parts.specs) if setting in list_settings(spec)]


def read_parts(view: str) -> Scene[CapabilityShares]:
    """Return what was measured: of the base and every single change, or of the ladder."""
    return read_ladder() if view == LADDER else read_shares({name_spec(spec): spec for spec in compared_specs()})


def show_parts(scene: Scene[CapabilityShares], options: Options) -> Iterator[Item]:
    """The choice of the view, and that view."""
    yield Control("parts_view", "Compare")
    if len(scene.now.names) < 2:
        yield Paragraph("The encoders of the small English are not there yet; they are being trained.", "info")
        return
    show = show_ladder if options["parts_view"] == LADDER else show_single_changes
    yield from show(scene.now, options)


def show_single_changes(parts: CapabilityShares, options: Options) -> Iterator[Item]:
    """What costs most, what every change costs, one sentence and the answers of two encoders, and every setting."""
    row, column = min(options["parts_row"], len(parts.names) - 1), options["parts_column"]
    yield Paragraph(answer_parts(parts), "answer")
    chosen = {"parts_row": row, "parts_column": column}
    yield capability_table("capability_table", "parts_row", chosen, "Each row changes one setting of the base.")
    yield Group("parts_cell", tuple(_show_cell(parts, row, column)))
    yield Paragraph("What each setting changes in every seed", "header")
    yield Paragraph("\n".join(f"- {describe_setting(parts, name)}" for name in STOPS if rows_of(parts, name)))


def answer_parts(parts: CapabilityShares) -> str:
    """Say which change costs most (markdown)."""
    row = 1 + int(parts.mean[1:].mean(axis=1).argmin())
    n = len(parts.specs) - 1
    return f"Of {n} changes of one setting, **{parts.names[row]}** costs most: {describe_loss(parts, row)}."


def describe_loss(parts: CapabilityShares, row: int) -> str:
    """Say what an encoder loses beside the base; empty if no loss is larger than what the seed does (markdown)."""
    lost = np.where(parts.high[row] < parts.low[0], parts.mean[0] - parts.mean[row], 0)
    worst = int(lost.argmax())
    if lost[worst] < LEAST_CHANGE:
        return ""
    n_fallen = int(((parts.mean[row] <= GUESSING) & (parts.mean[0] > GUESSING)).sum())
    fall = f"*{TITLES[worst]}* falls from {parts.mean[0, worst]:.2f} to {parts.mean[row, worst]:.2f}"
    return fall if n_fallen < 2 else f"{n_fallen} of {len(TITLES)} capabilities fall to guessing"


def describe_setting(parts: CapabilityShares, setting: str) -> str:
    """Say in one sentence what the values of a setting lose and gain beside the base (markdown)."""
    rows = rows_of(parts, setting)
    worst = min(rows, key=lambda row: float(parts.mean[row].mean()))
    gains = np.where(parts.low[rows] > parts.high[0], parts.mean[rows] - parts.mean[0], 0)  # (rows, C)
    best, column = divmod(int(gains.argmax()), len(TITLES))
    said = [f"{loss} ({parts.names[worst]})"] if (loss := describe_loss(parts, worst)) else []
    if gains[best, column] >= LEAST_CHANGE:
        before, after = parts.mean[0, column], parts.mean[rows[best], column]
        said.append(f"*{TITLES[column]}* rises from {before:.2f} to {after:.2f} ({parts.names[rows[best]]})")
    label = "causal mask" if setting == "causal" else SETTINGS[setting].label
    return f"**{upper_first(label)}:** {'; '.join(said) or 'nothing, at this size'}."


def _show_cell(parts: CapabilityShares, row: int, column: int) -> Iterator[Item]:
    """What the chosen encoder has of the chosen capability: the share, a sentence and its answers, and a button."""
    spec, name, capability = parts.specs[row], parts.names[row], tuple(CAPABILITIES.values())[column]
    yield Paragraph(f"**{name}, {capability.title}:** {parts.write(row, column)} right. {capability.takes}")
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


def describe_lost(spec: Spec) -> str:
    """Say which of the base's capabilities an encoder has lost, with the mean of their shares (markdown)."""
    base, own = shares_of(Spec()), shares_of(spec)
    lost = {name: shares for name, shares in own.items() if fmean(shares) <= GUESSING < fmean(base[name])}
    if not lost:
        return "It still has every capability of the base."
    named = [f"*{CAPABILITIES[name].title}* {fmean(shares):.2f}" for name, shares in lost.items()]
    seeds = count_noun(len(next(iter(lost.values()))), "seed")
    return f"Lost, by the share right over {seeds}: {join_words(named)}. Guessing gets {CHANCE:.2f}."
