"""Counts as people read them: formulas with numbers, rounded sizes, tables, what a model costs."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from playground.accounting.counts import LABELS, Count, Term, count_flops, count_memory, count_parameters
from playground.config import ModelConfig

if TYPE_CHECKING:
    import pandas as pd


def substitute(formula: str, config: ModelConfig, **sizes: int) -> str:
    """Put numbers in place of a formula's names: the config's fields, and sizes such as B and T."""
    names = vars(config) | sizes
    names |= {"d_head": config.head_width, "n_kv_heads": config.kv_heads, "d_embedding": config.embedding_width}
    return re.sub("[A-Za-z_]+", lambda name: f"{names[name[0]]:,}" if name[0] in names else name[0], formula)


def in_units(number: float, unit: str) -> str:
    """Round with a decimal prefix: `90.3 MB`."""
    return _rounded(number, ("", "k", "M", "G", "T", "P")) + unit


def in_millions(count: int) -> str:
    """Round as the field counts parameters: `22.6 M`."""
    return _rounded(count, ("", "k", "M", "B", "T")).rstrip()


def signed(difference: int) -> str:
    """A difference of counts: `+3.55 M`, `−920`, `±0`."""
    if not difference:
        return "±0"
    return f"{'+' if difference > 0 else '−'}{in_millions(abs(difference))}"


def times(ratio: float) -> str:
    """A ratio: `7,738 ×`, `0.21 ×`, `1/7,738 ×`."""
    if ratio < 0.01:
        return f"1/{in_millions(round(1 / ratio)) if ratio < 1e-6 else f'{1 / ratio:,.0f}'} ×"
    return f"{ratio:,.0f} ×" if ratio >= 10 else f"{ratio:.2g} ×"


def duration(seconds: float) -> str:
    """A time to wait: `8 s`, `3 min`, `1.5 h`."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.2g} h"


def breakdown_table(count: Count, config: ModelConfig, **sizes: int) -> "pd.DataFrame":
    """One row a part: its formula, the same with numbers, and its total in all layers."""
    parts: dict[str, list[Term]] = {}
    for term in count:
        parts.setdefault(term.part, []).append(term)
    totals = [sum(term.count for term in terms) for terms in parts.values()]
    import pandas as pd  # which the package itself does not load

    return pd.DataFrame(
        {
            "part": list(parts),
            "formula": [terms[0].formula for terms in parts.values()],
            "with these numbers": [substitute(terms[0].formula, config, **sizes) for terms in parts.values()],
            "each": [terms[0].count for terms in parts.values()],
            "times": [len(terms) for terms in parts.values()],
            "total": totals,
            "share, %": [100 * total / count.total for total in totals],
            "component": [LABELS[terms[0].component] for terms in parts.values()],
        }
    )


def memory_table(config: ModelConfig, n_tokens: int) -> "pd.DataFrame":
    """One row a purpose, for one sentence."""
    rows, n = count_memory(config, n_tokens), count_parameters(config).total
    import pandas as pd  # which the package itself does not load

    return pd.DataFrame(
        {
            "memory for": [purpose for purpose, _, _ in rows],
            "size": [in_units(n_bytes, "B") for _, _, n_bytes in rows],
            "formula, in bytes": [formula for _, formula, _ in rows],
            "with these numbers": [substitute(formula, config, N=n, T=n_tokens) for _, formula, _ in rows],
        }
    )


def _rounded(number: float, prefixes: tuple[str, ...]) -> str:
    power = max(i for i in range(len(prefixes)) if i == 0 or number >= 0.9995 * 1000**i)
    return f"{number / 1000**power:.3g} {prefixes[power]}"


@dataclass(frozen=True)
class ModelCosts:
    """A model and a sentence's length, with its counts."""

    config: ModelConfig
    n_tokens: int

    @cached_property
    def parameters(self) -> Count:
        """The model's parameters."""
        return count_parameters(self.config)

    @cached_property
    def flops(self) -> Count:
        """The operations of one pass over the sentence."""
        return count_flops(self.config, self.n_tokens)


def sentence_costs(config: ModelConfig, n_tokens: int | None) -> ModelCosts:
    """Return what a model costs for so many tokens, padding included; for 16 without a sentence."""
    return ModelCosts(config, min(n_tokens or 16, config.max_len))


def describe_costs(pinned: ModelCosts, now: ModelCosts) -> str:
    """Both models' parameters and work, the pinned one's first."""
    parameters = _describe_change(pinned.parameters.total, now.parameters.total, in_millions)
    flops = _describe_change(pinned.flops.total, now.flops.total, lambda n: in_units(n, "FLOPs"))
    return f"Parameters: {parameters}. The forward pass over {now.n_tokens} tokens: {flops}."


def _describe_change(before: int, after: int, write: Callable[[int], str]) -> str:
    ratio = f" ({times(after / before)})" if before and after else ""
    return f"{write(before)} → {write(after)}{ratio}"
