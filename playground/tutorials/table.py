"""The five tutorials' architectures side by side, read from their presets wherever a field says it."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from playground.accounting import count_parameters
from playground.config import ModelConfig
from playground.presets import PRESETS

NAMES = {"A": "tutorial-a", "B": "tutorial-b", "C": "tutorial-c", "D": "tutorial-d", "E": "tutorial-e"}
"""The tutorials' letters, and their presets."""

TITLES = {
    "A": "Implementing an Encoder",
    "B": "Encoder Block",
    "C": "Explanation",
    "D": "Notebook 05",
    "E": "From Scratch",
}
"""Their titles in short."""

LONG_TITLES = {letter: PRESETS[preset].title.partition(": ")[2] for letter, preset in NAMES.items()}
"""Their whole titles."""

SHORT_TITLES = {letter: f"{letter} · {title}" for letter, title in TITLES.items()}
"""What charts and sentences call them."""


@dataclass(frozen=True)
class Row:
    """One property of the five; cells, and notes on them, by letter."""

    name: str
    cells: Mapping[str, str]
    changes: str
    """What a difference changes: the numbers, the layout, the training or the size."""
    notes: Mapping[str, str] = field(default_factory=dict)

    def unusual(self) -> set[str]:
        """The letters whose cell is not the most common one; none where no cell is more common than the others."""
        counts = Counter(self.cells.values()).most_common()
        if len(counts) > 1 and counts[0][1] == counts[1][1]:
            return set()
        return {letter for letter, cell in self.cells.items() if cell != counts[0][0]}


_NUMBERS, _LAYOUT, _TRAINING, _SIZE = "the numbers", "the weights' layout", "training only", "the size"

_PROPERTIES: dict[str, tuple[Callable[[ModelConfig], str], str]] = {
    "embedding": (
        lambda c: f"lookup{' × √d_model' if c.scale_embeddings else ''}" if c.vocab_size else "none: raw vectors",
        _NUMBERS,
    ),
    "positions": (lambda c: c.positions.replace("-doubled", ", exponent doubled"), _NUMBERS),
    "norm placement": (lambda c: f"{c.norm_placement}-norm", _NUMBERS),
    "norm": (
        lambda c: {
            "layer": "a gain and a bias per feature; biased deviation",
            "scalar": "one gain, one bias; unbiased deviation",
            "rms": "a gain per feature; root mean square",
            "none": "none",
        }[c.norm],
        _NUMBERS,
    ),
    "eps of the norm": (
        lambda c: f"{c.norm_eps:g}, added to the {'deviation' if c.norm == 'scalar' else 'variance'}",
        _NUMBERS,
    ),
    "norm after the last block": (lambda c: "yes" if c.final_norm else "no", _NUMBERS),
    "initial weights": (
        lambda c: {"torch": "as torch draws them", "xavier": "Xavier-uniform, small tables"}[c.initialisation],
        _NUMBERS,
    ),
    "activation": (lambda c: {"relu": "ReLU", "gelu": "GELU", "silu": "SiLU"}[c.activation], _NUMBERS),
    "merging heads": (
        lambda c: {"transpose": "transpose, then reshape", "reshape": "reshape alone"}[c.head_merge],
        _NUMBERS,
    ),
    "Q, K, V projections": (lambda c: "one fused, head by head" if c.fused_qkv else "three", _LAYOUT),
    "d_model, heads, layers, d_ff": (
        lambda c: f"{c.d_model:,}, {c.n_heads}, {c.n_layers}, {c.d_ff:,}",
        _SIZE,
    ),
    "vocabulary": (lambda c: f"{c.vocab_size:,}" if c.vocab_size else "–", _SIZE),
    "parameters": (lambda c: f"{count_parameters(c).total:,}", _SIZE),
}

_NOTES = {
    "positions": {"C": "assumed already added"},
    "norm placement": {"D": "its text says pre-norm"},
    "d_model, heads, layers, d_ff": {"E": "left open; these are ours"},
    "vocabulary": {"E": "ours"},
    "parameters": {"E": "the encoder half"},
}

_ROWS_BY_HAND = (
    Row(
        "mask",
        {
            "A": "−1e9 filled in: padding",
            "B": "none",
            "C": "added to the scores; of what, it does not say",
            "D": "−1e9 filled in; of what, it does not say",
            "E": "−1e9 filled in: padding",
        },
        "rows with every key masked",
        {"E": "in its decoder, what lies ahead too"},
    ),
    Row(
        "dropout",
        {
            "A": "after positions, on attention weights, inside the feed-forward, after each sublayer",
            "B": "none",
            "C": "inside the feed-forward, after each sublayer",
            "D": "after positions, on attention weights, inside the feed-forward, after each sublayer",
            "E": "after positions, twice; inside the feed-forward, after each sublayer",
        },
        _TRAINING,
        {"C": "its text says: on attention weights too"},
    ),
)
"""What no field of a config says."""


DEPARTURES = {
    ("norm_placement", "pre"): (
        "pre-norm",
        "a norm stands before attention and before the feed-forward network (pre-norm), not after them",
    ),
    ("norm", "scalar"): ("one gain, one bias", "a norm has one gain and one bias, not one of each for every feature"),
    ("norm_eps", 1e-6): (
        "eps of the norm",
        "eps, the small number that keeps a norm from dividing by 0, is 1e-6, not 1e-5",
    ),
    ("final_norm", True): ("norm after the last block", "a norm follows the last block"),
    ("positions", "sinusoidal-doubled"): ("doubled exponent", "the exponent of the positions counts twice"),
    ("head_merge", "reshape"): ("merge by reshape", "heads are merged by a reshape alone, without a transpose"),
    ("fused_qkv", True): ("fused Q, K, V", "one fused projection gives Q, K and V"),
    ("activation", "gelu"): ("GELU", "the activation is GELU, not ReLU"),
}
"""What the tutorials do otherwise than the paper, in few words and in a sentence, by field and value."""


PROPERTIES_OF_FIELDS = {
    "norm_placement": "norm placement",
    "norm": "norm",
    "norm_eps": "eps of the norm",
    "final_norm": "norm after the last block",
    "positions": "positions",
    "head_merge": "merging heads",
    "fused_qkv": "Q, K, V projections",
    "activation": "activation",
}
"""What the table calls a field of `ModelConfig`: of those that `DEPARTURES` has."""


def name_value(field_name: str, config: ModelConfig) -> str:
    """A config's value of one of `PROPERTIES_OF_FIELDS`, as the table words it."""
    return _PROPERTIES[PROPERTIES_OF_FIELDS[field_name]][0](config)


def build_table() -> list[Row]:
    """The properties of the five, from their presets where a field says it."""
    rows = []
    for name, (word, changes) in _PROPERTIES.items():
        cells = {letter: word(PRESETS[preset].config) for letter, preset in NAMES.items()}
        rows.append(Row(name, cells, changes, _NOTES.get(name, {})))
    return [*rows, *_ROWS_BY_HAND]
