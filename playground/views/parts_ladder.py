"""The ladder from the encoder of 2017 to one of today: what each change brings on the small English, and what it costs.

Legend: R encoders, that of 2017 first; C capabilities.
"""

from collections.abc import Iterator

import pandas as pd

from playground.accounting import count_flops, count_memory, count_parameters
from playground.accounting.readable import in_units
from playground.charts.chart import Control, Group, Item, Options, Paragraph, Table, Widget, fill_panel
from playground.charts.scene import Scene
from playground.config import ModelConfig
from playground.language.ladder import RUNGS, START, climb, ladder_specs
from playground.language.network import Spec
from playground.language.text import LONGEST
from playground.link.english import values_of
from playground.text.wording import count_heads, upper_first, with_minus
from playground.views.capability_shares import TITLES, CapabilityShares, capability_table, read_shares

LARGE = ModelConfig(vocab_size=30_522, d_model=768, n_heads=12, n_layers=12, d_ff=3_072, max_len=512)
"""The encoder of 2017, as wide and deep as BERT base."""


def read_ladder() -> Scene[CapabilityShares]:
    """Return what was measured of each rung, as far as it was."""
    return read_shares(ladder_specs())


def show_ladder(ladder: CapabilityShares, options: Options) -> Iterator[Item]:
    """How far the ladder leads, every rung's shares, the chosen rung, the rungs in words, and their costs."""
    row, column = min(options["parts_rung"], len(ladder.names) - 1), options["parts_column"]
    yield Paragraph(answer_ladder(ladder), "answer")
    chosen = {"parts_rung": row, "parts_column": column}
    about = "Each row keeps the changes above it; at larger sizes, results may differ."
    yield capability_table("ladder_table", "parts_rung", chosen, about)
    yield Group("parts_cell", tuple(_show_rung(ladder, row, column)))
    yield Paragraph("The rungs", "header")
    yield Paragraph("\n".join(f"{i}. **{rung.name}** ({rung.year}): {rung.plain}" for i, rung in enumerate(RUNGS, 1)))
    title = "What each rung costs: parameters, FLOPs and memory"
    yield fill_panel(
        options, "parts_costs", title, lambda: _show_costs(options["parts_counted"]), ":material/calculate:"
    )


def average_range(ladder: CapabilityShares, row: int) -> tuple[float, float, float]:
    """Return the mean over all capabilities, and those of the worst and the best seed."""
    averages = ladder.by_seed[row].mean(1)
    return float(averages.mean()), float(averages.min()), float(averages.max())


def find_change(ladder: CapabilityShares, first: int, row: int) -> float | None:
    """Return how the mean over all capabilities changes between two rows; None if the seeds' ranges overlap."""
    (before, lowest, highest), (here, low, high) = average_range(ladder, first), average_range(ladder, row)
    return here - before if low > highest or high < lowest else None


def answer_ladder(ladder: CapabilityShares) -> str:
    """Say how many words are right in 2017 and at the top, and which rung changes most (markdown)."""
    last = len(ladder.names) - 1
    first, top = (average_range(ladder, row)[0] for row in (0, last))
    answer = (
        f"Averaged over ten capabilities, the encoder of 2017 gets **{first:.1%}** of hidden words right; with all "
        f"{last} changes, **{top:.1%}**{', which may be chance' * (find_change(ladder, 0, last) is None)}."
    )
    changes = {row: change for row in range(1, last + 1) if (change := find_change(ladder, row - 1, row)) is not None}
    if not changes:
        return f"{answer} No rung changes more than the seed does: each may be chance."
    most = max(changes, key=lambda row: abs(changes[row]))
    before, here = (average_range(ladder, row)[0] for row in (most - 1, most))
    return f"{answer} **{upper_first(ladder.names[most])}** changes most: from {before:.1%} to {here:.1%}."


def _show_rung(ladder: CapabilityShares, row: int, column: int) -> Iterator[Item]:
    """The chosen rung: its share of the chosen capability, what it changes, its paper's claim, and a button."""
    name, spec = ladder.names[row], ladder.specs[row]
    yield Paragraph(f"**{name}, {TITLES[column]}:** {ladder.write(row, column)} right. {describe_change(ladder, row)}")
    rung = next((rung for rung in RUNGS if rung.name == name), None)
    if rung is not None:
        yield Paragraph(f"*The paper:* {rung.claim} ({rung.source})", "caption")
    base = values_of(Spec())
    yield Widget("open_encoder", {"settings": {k: v for k, v in values_of(spec).items() if v != base[k]}})


def describe_change(ladder: CapabilityShares, row: int) -> str:
    """Say how a rung changes the mean over all capabilities, and whether that may be chance; empty for 2017."""
    if row == 0:
        return ""
    before, here = (average_range(ladder, each)[0] for each in (row - 1, row))
    may_be = " This may be chance: the seeds' ranges overlap." if find_change(ladder, row - 1, row) is None else ""
    return f"All capabilities: {before:.1%} on the row above, {here:.1%} here.{may_be}"


def _show_costs(counted: str) -> Iterator[Item]:
    """The costs of each rung at the chosen size."""
    start, longest = ladder_specs()[START].config, LONGEST
    if counted == "as large as BERT base":
        start, longest = LARGE, LARGE.max_len
    yield Control("parts_counted", "Count")
    yield Table(key="ladder_costs", frame=lambda _: tabulate_costs(start, longest), compares=False, is_markdown=True)
    yield Paragraph(
        f"An encoder with {count_heads(start.n_layers, start.n_heads)}, d_model {start.d_model} and "
        f"{start.vocab_size:,} tokens in its table. FLOPs: additions and multiplications in the matrix products of one "
        f"pass over {longest} tokens. Memory: the weights, and the keys and values of one such sentence, 4 bytes a "
        "number. In brackets: the change from the row above.",
        "caption",
    )


def tabulate_costs(start: ModelConfig, longest: int) -> pd.DataFrame:
    """Return parameters, FLOPs and memory for a sentence of `longest` tokens, with the change from the row above."""
    counts = [_count(config, longest) for config in climb(start, longest)]
    rows = [
        {what: f"{_write_count(what, here[what])} ({write_change(before[what], here[what])})" for what in here}
        for before, here in zip((counts[0], *counts), counts, strict=False)
    ]
    return pd.DataFrame(rows, pd.Index(list(ladder_specs()), name="rung"))


def _count(config: ModelConfig, n_tokens: int) -> dict[str, int]:
    memory = {row.purpose: row.n_bytes for row in count_memory(config, n_tokens)}
    return {
        "parameters": count_parameters(config).total,
        "FLOPs": count_flops(config, n_tokens).total,
        "memory": memory["weights, fp32"] + memory["keys and values of one sentence, fp32"],
    }


def _write_count(what: str, count: int) -> str:
    return f"{count:,}" if what == "parameters" else in_units(count, "B" if what == "memory" else "").strip()


def write_change(before: int, after: int) -> str:
    """Return a change in percent with two digits, however small it is."""
    return with_minus(f"{100 * (after / before - 1):+.2g}\u00a0%") if before != after else "±0"
