"""What each of the five tutorials teaches, and its mistakes, each made again in a few lines that return its numbers.

Inputs are small enough to follow by hand, and in double precision, so that rounding plays no part.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from playground.config import ModelConfig
from playground.model import Encoder, Trace, causal_mask
from playground.model.norms import build_norm
from playground.model.positions import sinusoids, wavelengths
from playground.text.data import load_data
from playground.text.wording import write_number

Numbers = tuple[float | str, ...]


def normal(*shape: int, seed: int = 0) -> Tensor:
    """Return standard normal numbers in double precision, the same every time."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).double()


def small_encoder(**variant: Any) -> Encoder:
    """Return one block of width 16 with 4 heads and random weights, for raw vectors without positions."""
    config: dict[str, Any] = {"vocab_size": 0, "d_model": 16, "n_heads": 4, "n_layers": 1, "d_ff": 64}
    return Encoder(ModelConfig(**config | {"positions": "none"} | variant)).double().requires_grad_(False)


def plain_norm(config: ModelConfig) -> nn.Module:
    """Return the config's norm in double precision, with gain 1 and bias 0."""
    norm = build_norm(config).double().requires_grad_(False)
    norm.load_state_dict({name: torch.ones_like(t) * (name == "gain") for name, t in norm.state_dict().items()})
    return norm


def largest_difference(one: Tensor, other: Tensor) -> float:
    """Return the largest absolute difference of two tensors."""
    return float((one - other).abs().max())


def doubled_exponent() -> Numbers:
    """Count i twice in the exponent of the positions' frequencies."""
    lengths = [wavelengths(16, doubled=doubled)[:5].tolist() for doubled in (True, False)]
    doubled, standard = (", ".join(f"{length:,.1f}" for length in each) for each in lengths)
    return doubled, standard, largest_difference(sinusoids(50, 16, doubled=True), sinusoids(50, 16))


def leaking_merge() -> Numbers:
    """Reshape heads (B, H, T, d_head) to (B, T, d_model) without transposing, and change the last of six tokens."""
    x, found = normal(1, 6, 16), []
    other = torch.cat([x[:, :-1], x[:, -1:] + 1], dim=1)
    for merge in ("reshape", "transpose"):
        encoder = small_encoder(head_merge=merge)
        moved = encoder.encode(other, causal_mask(6)) - encoder.encode(x, causal_mask(6))
        found.append(", ".join(map(str, torch.nonzero(moved.abs().amax(-1)[0] > 1e-6).flatten().tolist())))
    return tuple(found)


def mask_never_arrives() -> Numbers:
    """Leave out the mask between encoder and attention."""
    encoder, x = small_encoder(head_merge="reshape"), normal(1, 6, 16)
    return (largest_difference(encoder.encode(x, causal_mask(6)), encoder.encode(x)),)


def post_norm_called_pre() -> Numbers:
    """Run the same weights both ways, and look at what the final norm still finds to do."""
    variant: dict[str, Any] = {"activation": "gelu", "final_norm": True}
    x, trace, encoder = normal(1, 6, 16), Trace(), small_encoder(**variant)
    post = encoder.encode(x, trace=trace)
    pre = small_encoder(**variant, norm_placement="pre").encode(x)
    moved = largest_difference(trace["final"], trace["layers.0.out"])
    return largest_difference(post, pre), write_number(moved, 2), write_number(encoder.config.norm_eps)


def pre_norm_called_post() -> Numbers:
    """Run tutorial A's encoder with the norms before each sublayer (its code) and after (its text)."""
    x, variant = normal(1, 6, 16), {"norm": "scalar", "final_norm": True}
    before, after = (small_encoder(**variant, norm_placement=place).encode(x) for place in ("pre", "post"))
    return (largest_difference(before, after),)


def dropout_left_on() -> Numbers:
    """Send the same vectors twice through an encoder in training mode, and twice in evaluation mode."""
    encoder, x = small_encoder(dropout=0.1), normal(1, 6, 16)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        train = largest_difference(encoder.train().encode(x), encoder.encode(x))
    return train, largest_difference(encoder.eval().encode(x), encoder.encode(x))


def unrelated_tensors() -> Numbers:
    """Take queries and keys from one text, and from two."""
    x, other = normal(1, 1, 10, 16), normal(1, 1, 10, 16, seed=1)
    weights = [(x @ keys.transpose(-2, -1) / math.sqrt(16)).softmax(-1) for keys in (x, other)]
    return tuple(float(each[0, 0].diagonal().mean()) for each in weights)


def unbiased_deviation() -> Numbers:
    """Normalise 512 features, and take the deviation as torch's `std` does."""
    return float(plain_norm(ModelConfig(vocab_size=0))(normal(1, 512)).std()), math.sqrt(512 / 511)


def permuted_tokens() -> Numbers:
    """Put the tokens into another order, and compare outputs in place and token by token."""
    encoder, x, order = small_encoder(), normal(1, 6, 16), torch.tensor([3, 0, 5, 1, 4, 2])
    out, permuted = encoder.encode(x), encoder.encode(x[:, order])
    return largest_difference(permuted, out), largest_difference(permuted, out[:, order])


def scalar_norm() -> Numbers:
    """Normalise the same numbers by tutorial A's norm and by LayerNorm."""
    x = normal(10, 8)
    scalar, layer = (plain_norm(ModelConfig(vocab_size=0, d_model=8, norm=kind))(x) for kind in ("scalar", "layer"))
    return largest_difference(scalar, layer), math.sqrt(7 / 8)


def queries_masked_for_keys() -> Numbers:
    """Mask a target's padding by rows, with padding in second place, and by columns."""
    real = torch.tensor([True, False, True, True])
    ahead = causal_mask(4)[0]
    by_rows, by_columns = ahead & real[:, None], ahead & real[None, :]
    weights = normal(4, 4).masked_fill(~by_rows, -1e9).softmax(-1)[1]
    shown = ", ".join(f"{weight:.2f}" for weight in weights)
    return shown, int(by_rows[real][:, 1].sum()), int(by_columns[real][:, 1].sum())


# --- what they teach and get wrong


@dataclass(frozen=True)
class Topic:
    """Something that a tutorial teaches, and the page that shows it."""

    text: str
    page: str
    target: str | None = None
    """Key of the container that the page scrolls to."""
    settings: Mapping[str, bool | int | str] = field(default_factory=dict)
    """Values of the link's parameters beside the tutorial's preset."""


@dataclass(frozen=True)
class Flaw:
    """Something that a tutorial gets wrong; its demonstration returns the numbers of the evidence."""

    where: str
    printed: str
    """What the tutorial says there."""
    happens: str = ""
    """What comes of it."""
    demonstration: Callable[[], Numbers] | None = None
    evidence: str = ""
    keys: Sequence[str] = ()
    """The same mistakes in the registry."""

    def demonstrate(self) -> str:
        """Return the computed evidence; empty without a demonstration."""
        return "" if self.demonstration is None else self.evidence.format(*self.demonstration())


@dataclass(frozen=True)
class Tutorial:
    """One of the five; its architecture is the preset of its letter."""

    what: str
    topics: tuple[Topic, ...]
    flaws: tuple[Flaw, ...]


_DEMONSTRATIONS: Mapping[str | None, Callable[[], Numbers]] = {
    each.__name__: each
    for each in (
        doubled_exponent, dropout_left_on, leaking_merge, mask_never_arrives, permuted_tokens,
        post_norm_called_pre, pre_norm_called_post, queries_masked_for_keys, scalar_norm, unbiased_deviation,
        unrelated_tensors,
    )
}  # fmt: skip


def _read(what: str, topics: Sequence[Mapping[str, Any]], mistakes: Sequence[Mapping[str, Any]]) -> Tutorial:
    flaws = (Flaw(**{**each, "demonstration": _DEMONSTRATIONS.get(each.get("demonstration"))}) for each in mistakes)
    return Tutorial(what, tuple(Topic(**topic) for topic in topics), tuple(flaws))


TUTORIALS: Mapping[str, Tutorial] = {letter: _read(**texts) for letter, texts in load_data(__file__).items()}
"""By letter."""
