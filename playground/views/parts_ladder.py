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
from playground.words import say

LARGE = ModelConfig(vocab_size=30_522, d_model=768, n_heads=12, n_layers=12, d_ff=3_072, max_len=512)
"""The encoder of 2017, as wide and deep as BERT base."""


def read_ladder() -> Scene[CapabilityShares]:
    """Return what was measured of each rung, as far as it was."""
    return read_shares(ladder_specs())


def show_ladder(ladder: CapabilityShares, options: Options) -> Iterator[Item]:
    """How far the ladder leads, every rung's shares, the chosen rung, the rungs in words, and their costs."""
    row, column = min(options["parts_rung"], len(ladder.names) - 1), options["parts_column"]
    yield Paragraph(say("parts", "answer-ladder", **find_climb(ladder)), "answer")
    chosen = {"parts_rung": row, "parts_column": column}
    yield capability_table("ladder_table", "parts_rung", chosen, say("parts", "table-ladder"))
    yield Group("parts_cell", tuple(_show_rung(ladder, row, column)))
    yield Paragraph(say("parts", "rungs"), "header")
    yield Paragraph("\n".join(f"{i}. **{rung.name}** ({rung.year}): {rung.plain}" for i, rung in enumerate(RUNGS, 1)))
    title = say("parts", "panel-costs")
    yield fill_panel(
        options, "parts_costs", title, lambda: _show_costs(options["parts_counted"]), ":material/calculate:"
    )


def find_climb(ladder: CapabilityShares) -> dict[str, str | int]:
    """The shares right in 2017, at the top, and below and on the rung that changes most, overlapping seeds last."""

    def size(row: int) -> tuple[bool, float]:
        (before, lowest, highest), (here, low, high) = ladder.average(row - 1), ladder.average(row)
        return low > highest or high < lowest, abs(here - before)

    last = len(ladder.names) - 1
    most = max(range(1, last + 1), key=size)
    rows = {"first": 0, "top": last, "before": most - 1, "after": most}
    shares = {name: ladder.write_average(row) for name, row in rows.items()}
    return {"changes": last, "rung": upper_first(ladder.names[most]), **shares}


def _show_rung(ladder: CapabilityShares, row: int, column: int) -> Iterator[Item]:
    """The chosen rung: its share of the chosen capability, its paper's claim, and a button."""
    name, spec = ladder.names[row], ladder.specs[row]
    said = say("parts", "cell", name=name, capability=TITLES[column], share=ladder.write(row, column))
    if row:
        before, here = (ladder.write_average(each) for each in (row - 1, row))
        said += f" {say('parts', 'change', before=before, here=here)}"
    yield Paragraph(said)
    rung = next((rung for rung in RUNGS if rung.name == name), None)
    if rung is not None:
        yield Paragraph(say("parts", "paper", claim=rung.claim, source=rung.source), "caption")
    base = values_of(Spec())
    yield Widget("open_encoder", {"settings": {k: v for k, v in values_of(spec).items() if v != base[k]}})


def _show_costs(counted: str) -> Iterator[Item]:
    """The costs of each rung at the chosen size."""
    start, longest = ladder_specs()[START].config, LONGEST
    if counted == "as large as BERT base":
        start, longest = LARGE, LARGE.max_len
    yield Control("parts_counted", say("parts", "count"))
    yield Table(key="ladder_costs", frame=lambda _: tabulate_costs(start, longest), compares=False, is_markdown=True)
    sizes = {"heads": count_heads(start.n_layers, start.n_heads), "width": start.d_model}
    rows = f"{start.vocab_size:,}"
    yield Paragraph(say("parts", "costs", rows=rows, longest=longest, **sizes), "caption")


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
