"""What each part of an encoder is for: what trained encoders of the small English lose without it.

Legend: R encoders, the base first; C capabilities. The other view of the page, the ladder, is in `parts_ladder`.
"""

from collections.abc import Iterator
from statistics import fmean
from typing import Any

import pandas as pd

from playground.charts.chart import Control, Group, Item, Options, Paragraph, Table, Widget
from playground.charts.scene import Scene
from playground.config import SETTINGS
from playground.language.answers import answer_example, find_difference, write_masked
from playground.language.capabilities import CAPABILITIES
from playground.language.family import STOPS, compared_specs, is_shipped, load_shipped, shares_of
from playground.language.network import Spec
from playground.link.opening import LinkedView
from playground.pages import LADDER
from playground.text.wording import count_noun, join_words, upper_first
from playground.views.capability_shares import (
    CHANCE,
    GUESSING,
    CapabilityShares,
    capability_table,
    read_shares,
)
from playground.views.parts_ladder import read_ladder, show_ladder
from playground.words import say

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


def parts_scene(view: LinkedView) -> Scene[CapabilityShares]:
    """Return what was measured: of the base and every single change, or of the ladder."""
    is_ladder = view.values["parts_view"] == LADDER
    return read_ladder() if is_ladder else read_shares({name_spec(spec): spec for spec in compared_specs()})


def show_parts(scene: Scene[CapabilityShares], options: Options) -> Iterator[Item]:
    """The choice of the view, and that view."""
    yield Control("parts_view", say("parts", "view"))
    show = show_ladder if options["parts_view"] == LADDER else show_single_changes
    yield from show(scene.now, options)


def show_single_changes(parts: CapabilityShares, options: Options) -> Iterator[Item]:
    """What costs most, what every change costs, one sentence and the answers of two encoders, and every setting."""
    row, column = min(options["parts_row"], len(parts.names) - 1), options["parts_column"]
    yield Paragraph(say("parts", "answer", **find_worst(parts)), "answer")
    chosen = {"parts_row": row, "parts_column": column}
    yield capability_table("capability_table", "parts_row", chosen, say("parts", "table-single"))
    yield Group("parts_cell", tuple(_show_cell(parts, row, column)))
    yield Paragraph(say("parts", "settings"), "header")
    yield Table(key="parts_settings", frame=tabulate_settings, compares=False, is_markdown=True)
    yield Paragraph(say("parts", "settings.caption", base=parts.write_average(0)), "caption")


def find_worst(parts: CapabilityShares) -> dict[str, Any]:
    """The change with the lowest mean share right, the base's mean and its own, and how many capabilities it loses."""
    means = parts.mean.mean(axis=1)
    row = 1 + int(means[1:].argmin())
    fallen = int(((parts.mean[row] <= GUESSING) & (parts.mean[0] > GUESSING)).sum())
    numbers = {"before": means[0], "after": means[row], "fallen": fallen}
    return {"changes": len(parts.names) - 1, "name": parts.names[row], **numbers}


def tabulate_settings(parts: CapabilityShares) -> pd.DataFrame:
    """The value of every setting that is worst on average over all capabilities, and the best one."""
    table = {}
    for setting in STOPS:
        rows = [row for row, spec in enumerate(parts.specs) if setting in list_settings(spec)]
        rows.sort(key=lambda row: float(parts.mean[row].mean()))
        label = "causal mask" if setting == "causal" else SETTINGS[setting].label
        ends = {"worst": rows[0], "best": rows[-1]} if rows else {}
        table[upper_first(label)] = {
            what: f"{parts.names[row]}: {parts.write_average(row)}" for what, row in ends.items()
        }
    return pd.DataFrame.from_dict(table, orient="index")


def _show_cell(parts: CapabilityShares, row: int, column: int) -> Iterator[Item]:
    """What the chosen encoder has of the chosen capability: the share, a sentence and its answers, and a button."""
    spec, name, capability = parts.specs[row], parts.names[row], tuple(CAPABILITIES.values())[column]
    share = {"name": name, "capability": capability.title, "share": parts.write(row, column)}
    yield Paragraph(f"{say('parts', 'cell', **share)} {capability.takes}")
    if not (is_shipped(spec) and is_shipped(Spec())):
        return
    networks = {"base": load_shipped(Spec()), name: load_shipped(spec)}
    example = find_difference(networks["base"], networks[name], capability)
    lines = [say("parts", "example", sentence=write_masked(example), answer=example.answer), ""]
    for each, network in networks.items():
        found = answer_example(network, example)
        words = ", ".join(f"*{word}* {probability:.2f}" for word, probability in found.probabilities.items())
        line = say("parts", "words", name=each, words=words)
        if found.cost >= LEAST_CHANGE:
            head = {"head": found.head, "layer": found.layer, "cost": f"{found.cost:.2f}", "answer": example.answer}
            line += f" {say('parts', 'head', **head)}"
        lines.append(f"- {line}")
    yield Paragraph("\n".join(lines))
    yield Widget("open_encoder", {"settings": list_settings(spec)})


def describe_lost(spec: Spec) -> str:
    """Say which of the base's capabilities an encoder has lost, with the mean of their shares (markdown)."""
    base, own = shares_of(Spec()), shares_of(spec)
    lost = {name: shares for name, shares in own.items() if fmean(shares) <= GUESSING < fmean(base[name])}
    if not lost:
        return say("parts", "kept")
    named = [f"*{CAPABILITIES[name].title}* {fmean(shares):.2f}" for name, shares in lost.items()]
    seeds = len(next(iter(lost.values())))
    return say("parts", "lost", seeds=seeds, capabilities=join_words(named), chance=f"{CHANCE:.2f}")
