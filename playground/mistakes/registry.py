"""The mistakes: registry.yaml describes each one, makings.py has how the model's own pass makes it.

To add one: an entry in both, and its line in `tests/mistakes/plain_pass.py`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from playground.config import ModelConfig
from playground.mistakes.edits import Making
from playground.mistakes.makings import MAKINGS, Applies, other_eps, swap_relu, swap_tanh
from playground.text.data import load_data

Lines = tuple[str, str]
"""Code with the mistake, and without it."""


@dataclass(frozen=True)
class Mistake:
    """One mistake, in every layer where it can be made."""

    key: str
    title: str
    """The mistake in a few words."""
    meaning: str
    """What that means, in a sentence."""
    symptom: str
    """What its maker notices."""
    test: str
    """The cheapest test that finds it."""
    source: str
    """Where it was seen."""
    part: str
    """The part of the code; two mistakes of one part exclude each other."""
    shows: str
    """The first tensor that is wrong, as a part of its name in a trace; for post-norm where the placement matters."""
    making: Making
    applies: Applies
    """Whether a model of this config can make it in a pass with this mask."""
    write_lines: Callable[[ModelConfig], Lines]
    """Return the lines, wrong and right, for an encoder of a config."""


_CALLS = {
    "relu": "F.relu(up(x))",
    "gelu": "F.gelu(up(x))",
    "gelu-tanh": 'F.gelu(up(x), approximate="tanh")',
    "silu": "F.silu(up(x))",
    "none": "up(x)",
}


def _write_activation(config: ModelConfig, activation: str) -> Lines:
    """Return the line of the hidden layer, with another activation and with the config's."""
    gate = " * gate(x)" if config.gated else ""
    wrong, right = (f"hidden = {_CALLS[each]}{gate}" for each in (activation, config.activation))
    return wrong, right


def _write_sublayer(config: ModelConfig, *, swaps: bool = False, residual: bool = True) -> str:
    """Return the line of a sublayer with its norms; `swaps` puts them on the other side."""
    has_norm = config.norm != "none"
    is_post = (config.norm_placement == "post") != swaps
    line = "f(norm(x))" if has_norm and not is_post else "f(x)"
    line = f"post_norm({line})" if has_norm and config.norm_placement == "both" else line
    line = f"x + {line}" if residual and config.residual else line
    return f"x = norm({line})" if has_norm and is_post else f"x = {line}"


_LINES: Mapping[str, Callable[[ModelConfig], Lines]] = {
    "other-eps": lambda c: (f"norm.eps = {other_eps(c):g}", f"norm.eps = {c.norm_eps:g}"),
    "norm-order-swapped": lambda c: (_write_sublayer(c, swaps=True), _write_sublayer(c)),
    "residual-forgotten": lambda c: (_write_sublayer(c, residual=False), _write_sublayer(c)),
    "activation-forgotten": lambda c: _write_activation(c, "none"),
    "relu-for-gelu": lambda c: _write_activation(c, swap_relu(c)),
    "gelu-by-tanh": lambda c: _write_activation(c, swap_tanh(c)),
}
"""Lines that depend on the architecture; the others stand in registry.yaml."""


def _build(key: str, wrong: str = "", right: str = "", **words: str) -> Mistake:
    making, applies = MAKINGS[key]
    lines = _LINES.get(key, lambda _: (wrong, right))
    return Mistake(key=key, **words, making=making, applies=applies, write_lines=lines)


MISTAKES: Mapping[str, Mistake] = MappingProxyType(
    {key: _build(key, **words) for key, words in load_data(__file__).items()}
)
"""By key, in the order of the computation."""
