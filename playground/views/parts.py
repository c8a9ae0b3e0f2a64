"""What each part of an encoder is for: one setting changed, or the ladder from 2017 to today.

Legend: R encoders, S seeds, C capabilities.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd

from playground.accounting import count_flops, count_memory, count_parameters
from playground.accounting.readable import in_units
from playground.charts.chart import Axis, Control, Group, Heatmap, Item, Options, Paragraph, Table, Widget, fill_panel
from playground.charts.colour_scales import Colours
from playground.charts.figure import Array
from playground.charts.heads import LEAST_CELL
from playground.charts.scene import Scene
from playground.config import ModelConfig
from playground.language import family, text
from playground.language.answers import answer_example, find_difference, write_masked
from playground.language.capabilities import CAPABILITIES, Example
from playground.language.family import STOPS, compared_specs, is_shipped, load_shipped, seeds_of, shares_of
from playground.language.network import BASE, Spec
from playground.link.opening import LinkedView
from playground.link.params import values_of
from playground.pages import LADDER
from playground.text.wording import count_heads, count_noun, join_words, upper_first, with_minus
from playground.words import say

GUESSING, CHANCE = 0.6, 0.5
"""The highest share called guessing, and chance between two words."""

LEAST_CHANGE = 0.05
"""Smaller differences are not reported."""

VALUES: dict[tuple[str, Any], str] = {
    ("positions", "none"): "no positions",
    ("positions", "alibi"): "ALiBi positions",
    ("norm_placement", "post"): "post-norm",
    ("norm_placement", "both"): "pre- and post-norm",
    ("norm", "rms"): "RMS norm",
    ("norm", "none"): "no norms",
    ("residual", False): "no residuals",
    ("causal", True): "causal mask",
    ("tied", "shared"): "shared W_Q = W_K",
    ("tied", "merged"): "merged map M",
    ("position_join", "concatenate"): "concatenated sinusoids",
}
"""Names of settings."""


# --- what was measured


@dataclass(frozen=True, eq=False)
class CapabilityShares:
    """The shares right of measured encoders."""

    names: tuple[str, ...]
    specs: tuple[Spec, ...]
    by_seed: tuple[Array, ...]
    """Of each encoder: (S, C)."""
    numbers: tuple[int, ...]
    """Of each encoder in links."""

    @cached_property
    def mean(self) -> Array:
        """The mean over the seeds: (R, C)."""
        return np.array([shares.mean(0) for shares in self.by_seed])

    def write(self, row: int, column: int) -> str:
        """Return a cell's mean and range, such as `0.90 (0.89–0.91)`."""
        seeds = self.by_seed[row][:, column]
        return f"{seeds.mean():.2f} ({seeds.min():.2f}–{seeds.max():.2f})"

    def write_average(self, row: int) -> str:
        """Return the mean over capabilities with its range."""
        seeds = self.by_seed[row].mean(1)
        return f"{seeds.mean():.1%} ({seeds.min():.1%}–{seeds.max():.1%})"


def parts_scene(view: LinkedView) -> Scene[CapabilityShares]:
    """Return what was measured."""
    single = {name_spec(spec): spec for spec in compared_specs()}
    specs = family.ladder_specs() if view.values["parts_view"] == LADDER else single
    rows = {name: seeds for name, spec in specs.items() if (seeds := seeds_of(spec))}
    numbers = {name: number for number, name in enumerate(rows)}
    names = sorted(rows, key=lambda name: numbers[name.replace("concatenated sinusoids", "sinusoidal positions")])
    by_seed = tuple(np.array([[row.shares[key] for key in CAPABILITIES] for row in rows[name]]) for name in names)
    places = tuple(numbers[name] for name in names)
    return Scene(CapabilityShares(tuple(names), tuple(specs[name] for name in names), by_seed, places))


def list_settings(spec: Spec) -> dict[str, Any]:
    """Return the settings that differ from the base."""
    base, own = ({**vars(each.config), "causal": each.causal} for each in (Spec(), spec))
    return {name: own[name] for name in STOPS if own[name] != base[name]}


def name_spec(spec: Spec) -> str:
    """Name an encoder by its changes, such as `no positions`."""
    settings = list_settings(spec)
    if "position_join" in settings:  # which names the positions too
        settings.pop("positions", None)
    return ", ".join(_name_value(*setting) for setting in settings.items()) or "base"


def _name_value(setting: str, value: Any) -> str:
    if setting in ("n_layers", "n_heads"):
        return count_noun(value, setting[2:-1])
    return VALUES.get((setting, value)) or (f"width {value}" if setting == "d_model" else f"{value} positions")


def describe_lost(spec: Spec) -> str:
    """Return the lost capabilities (markdown)."""
    base, own = shares_of(Spec()), shares_of(spec)
    lost = {name: shares for name, shares in own.items() if fmean(shares) <= GUESSING < fmean(base[name])}
    if not lost:
        return say("parts", "kept")
    named = [f"*{CAPABILITIES[name].title}* {fmean(shares):.2f}" for name, shares in lost.items()]
    seeds = len(next(iter(lost.values())))
    return say("parts", "lost", seeds=seeds, capabilities=join_words(named), chance=f"{CHANCE:.2f}")


# --- the page


def show_parts(scene: Scene[CapabilityShares], options: Options) -> Iterator[Item]:
    """Yield the answer, every share, and what is behind the chosen one."""
    shares, is_ladder = scene.now, options["parts_view"] == LADDER
    place = "parts_rung" if is_ladder else "parts_row"
    row, column = shares.numbers.index(min(options[place], len(shares.names) - 1)), options["parts_column"]
    yield Control("parts_view", say("parts", "view"))
    if is_ladder:
        answer, about = say("parts", "answer-ladder", **find_climb(shares)), say("parts", "table-ladder")
    else:
        answer, about = say("parts", "answer", **find_worst(shares)), say("parts", "table-single", **vars(BASE))
    yield Paragraph(answer, "answer")
    yield _capability_table(place, {place: shares.numbers[row], "parts_column": column}, about)
    capability, first_seed = list(CAPABILITIES.values())[column], f"{shares.by_seed[row][0, column]:.2f}"
    cell = {"name": shares.names[row], "capability": capability.title, "share": shares.write(row, column)}
    told = say("parts", "cell", **cell, seed=first_seed)
    spec, base, example, more = shares.specs[row], Spec(), None, _show_rung(shares, row, told)
    if not is_ladder:
        if is_shipped(spec) and is_shipped(base):
            example = find_difference(load_shipped(base), load_shipped(spec), capability)
        more = _show_examples(shares.names[row], spec, f"{told} {say('parts', f'takes-{capability.name}')}", example)
    opened = {key: value for key, value in values_of(spec).items() if value != values_of(base)[key]}
    sentence = {"text": text.join_words(example.words), "mask": example.place + 1} if example else {}  # behind [CLS]
    yield Group("parts_cell", (*more, Widget("open_encoder", {"settings": opened, **sentence})))
    if is_ladder:
        plain = "\n".join(f"{i}. {say('parts', f'rung-{i}')}" for i in range(1, len(family.ladder_specs())))
        yield from (Paragraph(say("parts", "rungs"), "header"), Paragraph(plain))
        yield fill_panel(options, "parts_costs", say("parts", "panel-costs"), _show_costs, ":material/calculate:")


def _capability_table(place: str, chosen: Mapping[str, int], about: str) -> Heatmap[CapabilityShares]:
    titles = [capability.title for capability in CAPABILITIES.values()]

    def write_cells(shares: CapabilityShares) -> pd.DataFrame:
        cells = [[shares.write(row, column) for column in range(len(titles))] for row in range(len(shares.names))]
        return pd.DataFrame(cells, pd.Index(shares.names, name="encoder"), pd.Index(titles))

    return Heatmap(
        key="ladder_table" if place == "parts_rung" else "capability_table",
        alt=say("parts", "table.alt"),
        caption=say("parts", "table.caption", about=about, grey=f"{GUESSING:.2f}", chance=f"{CHANCE:.2f}"),
        values=lambda shares: shares.mean,
        shown=lambda shares: shares.mean.round(2) > GUESSING,
        rows=Axis("", lambda each: each.names, place=place, numbers=lambda each: each.numbers, options={"dtick": 1}),
        columns=Axis("", lambda _: titles, place="parts_column", options={"side": "top", "dtick": 1}),
        chosen=chosen,
        click=say("parts", "table.click"),
        bar="right",
        hover="%{y}, %{x}",
        more="more right answers",
        opens="parts_cell",
        number=".2f",
        written=".2f",
        colours=lambda _: Colours({"zmin": CHANCE, "zmax": 1}),
        gap=1,
        height_of=lambda n_rows: 96 + 22 * n_rows,
        least_cell=LEAST_CELL,
        table=write_cells,
        compares=False,
    )


# --- one part away


def find_worst(shares: CapabilityShares) -> dict[str, Any]:
    """Return the change that costs most, mean shares, and how many capabilities fall."""
    means = shares.mean.mean(axis=1)
    row = 1 + int(means[1:].argmin())
    fallen = int(((shares.mean[row] <= GUESSING) & (shares.mean[0] > GUESSING)).sum())
    numbers = {"before": means[0], "after": means[row], "fallen": fallen}
    return {"changes": len(shares.names) - 1, "name": shares.names[row], **numbers}


def _show_examples(name: str, spec: Spec, told: str, example: Example | None) -> Iterator[Item]:
    yield Paragraph(told)
    if example is None:
        return
    networks = {"base": load_shipped(Spec()), name: load_shipped(spec)}
    lines = [say("parts", "example", sentence=write_masked(example), answer=example.answer), ""]
    for name, network in networks.items():
        found = answer_example(network, example)
        words = ", ".join(f"*{word}* {probability:.2f}" for word, probability in found.probabilities.items())
        line = say("parts", "words", name=name, words=words)
        if found.cost >= LEAST_CHANGE:
            head = {"head": found.head, "layer": found.layer, "cost": f"{found.cost:.2f}", "answer": example.answer}
            line += f" {say('parts', 'head', **head)}"
        lines.append(f"- {line}")
    yield Paragraph("\n".join(lines))


# --- the ladder


def find_climb(ladder: CapabilityShares) -> dict[str, str | int]:
    """Return the shares in 2017, at the top, and around the rung that changes most."""
    last = len(ladder.names) - 1
    most = 1 + int(np.abs(np.diff(ladder.mean.mean(axis=1))).argmax())
    rows = {"first": 0, "top": last, "before": most - 1, "after": most}
    shares = {name: ladder.write_average(row) for name, row in rows.items()}
    return {"changes": last, "rung": upper_first(ladder.names[most]), **shares}


def _show_rung(ladder: CapabilityShares, row: int, told: str) -> Iterator[Item]:
    if row:
        before, here = (ladder.write_average(each) for each in (row - 1, row))
        told += f" {say('parts', 'change', before=before, here=here)}"
    yield Paragraph(told)
    if row:
        yield Paragraph(say("parts", f"rung-{row}.paper"), "caption")


def _show_costs() -> Iterator[Item]:
    start = family.ladder_specs()[family.START].config
    yield Table(key="ladder_costs", frame=lambda _: tabulate_costs(), compares=False, is_markdown=True)
    sizes = {"heads": count_heads(start.n_layers, start.n_heads), "width": start.d_model}
    yield Paragraph(say("parts", "costs", rows=f"{start.vocab_size:,}", longest=text.LONGEST, **sizes), "caption")


def tabulate_costs() -> pd.DataFrame:
    """Return parameters, FLOPs and memory, with the change from the row above."""
    counts = [_count(spec.config, text.LONGEST) for spec in family.ladder_specs().values()]
    rows = [
        {what: f"{_write_count(what, here[what])} ({write_change(before[what], here[what])})" for what in here}
        for before, here in zip((counts[0], *counts), counts, strict=False)
    ]
    return pd.DataFrame(rows, pd.Index(list(family.ladder_specs()), name="rung"))


def _count(config: ModelConfig, n_tokens: int) -> dict[str, int]:
    memory = {purpose: n_bytes for purpose, _, n_bytes in count_memory(config, n_tokens)}
    return {
        "parameters": count_parameters(config).total,
        "FLOPs": count_flops(config, n_tokens).total,
        "memory": memory["weights, fp32"] + memory["keys and values of one sentence, fp32"],
    }


def _write_count(what: str, count: int) -> str:
    return f"{count:,}" if what == "parameters" else in_units(count, "B" if what == "memory" else "").strip()


def write_change(before: int, after: int) -> str:
    """Return a change in percent, with two digits."""
    return with_minus(f"{100 * (after / before - 1):+.2g}\u00a0%") if before != after else "±0"
