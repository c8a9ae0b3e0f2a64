"""The tutorials' mistakes, each made again in a few lines: returns the numbers that come of it, or Python's words.

Inputs are small enough to follow by hand, and in double precision, so that rounding plays no part.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from playground.config import ModelConfig
from playground.model import Encoder, Trace, causal_mask
from playground.model.norms import build_norm
from playground.model.positions import sinusoids, wavelengths
from playground.presets import PRESETS
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


def changed_positions(head_merge: str) -> str:
    """Return the positions whose output moves when the last of six tokens does, although a causal mask hides it."""
    encoder, x = small_encoder(head_merge=head_merge), normal(1, 6, 16)
    other = x.clone()
    other[:, -1] += 1
    before, after = (encoder.encode(vectors, causal_mask(6)) for vectors in (x, other))
    moved = torch.nonzero((after - before).abs().amax(-1)[0] > 1e-6).flatten().tolist()
    return ", ".join(map(str, moved))


def leaking_merge() -> Numbers:
    """Reshape heads (B, H, T, d_head) to (B, T, d_model) without transposing first."""
    return changed_positions("reshape"), changed_positions("transpose")


def mask_of_ones_and_zeros() -> Numbers:
    """Add a causal mask of 1 and 0 to scores that are all equal."""
    return (float(torch.ones(3, 3).tril().softmax(-1)[0, 1:].sum()),)


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
    """Run tutorial A's encoder with the norms before each sublayer, as its code does, and after, as its text says."""
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


def no_dropout_on_weights() -> Numbers:
    """Drop a tenth of the attention weights of six tokens, as tutorial C's text says, and none, as its code does."""
    trace = Trace()
    small_encoder(dropout=0.1).encode(normal(1, 6, 16), trace=trace)
    weights = trace["layers.0.attn.pattern"]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        sums = F.dropout(weights, 0.1).sum(-1)
    return float(weights.sum(-1).mean()), float(sums.min()), float(sums.max())


def unrelated_tensors() -> Numbers:
    """Take queries and keys from one text, and from two."""
    x, other = normal(1, 1, 10, 16), normal(1, 1, 10, 16, seed=1)
    weights = [(x @ keys.transpose(-2, -1) / math.sqrt(16)).softmax(-1) for keys in (x, other)]
    return tuple(float(each[0, 0].diagonal().mean()) for each in weights)


def unbiased_deviation() -> Numbers:
    """Normalise 512 features, and take the deviation as torch's `std` does."""
    return float(plain_norm(ModelConfig(vocab_size=0))(normal(1, 512)).std()), math.sqrt(512 / 511)


def layers_of_bert() -> Numbers:
    """Compare the shapes of both."""
    configs = (PRESETS[name].config for name in ("tutorial-d", "bert-base"))
    return tuple(number for each in configs for number in (each.n_layers, each.d_model, each.n_heads))


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


def exponent_before_scaling() -> Numbers:
    """Take the exponential of the columns' numbers first, and scale afterwards."""
    columns = torch.arange(0, 512, 2.0)
    return int(columns.exp().isinf().sum()), columns.numel()


def queries_masked_for_keys() -> Numbers:
    """Mask a target's padding by rows, with padding in second place, and by columns."""
    real = torch.tensor([True, False, True, True])
    ahead = causal_mask(4)[0]
    by_rows, by_columns = ahead & real[:, None], ahead & real[None, :]
    weights = normal(4, 4).masked_fill(~by_rows, -1e9).softmax(-1)[1]
    shown = ", ".join(f"{weight:.2f}" for weight in weights)
    return shown, int(by_rows[real][:, 1].sum()), int(by_columns[real][:, 1].sum())


# --- what fails


def raised(attempt: Callable[[], object]) -> Numbers:
    """Return what an attempt raises, in Python's words."""
    try:
        attempt()
    except (AttributeError, IndexError, RuntimeError, TypeError) as error:
        return (f"{type(error).__name__}, `{str(error).splitlines()[0]}`",)
    raise AssertionError("the attempt was expected to fail")


def odd_width() -> Numbers:
    """Fill every second column of a table with an odd number of columns."""
    table, angles = torch.zeros(4, 5), torch.zeros(4, 3)
    return raised(lambda: table[:, 1::2].copy_(angles.cos()))


def longer_than_the_table() -> Numbers:
    """Add six tokens to a table of five positions."""
    return raised(lambda: normal(1, 6, 16) + sinusoids(5, 16)[:6])


def called_a_number() -> Numbers:
    """Call the dimension where the table was meant."""
    d_model: Any = 512
    return raised(lambda: d_model(torch.tensor([1, 2])))


def swapped_arguments() -> Numbers:
    """Build a table of 10,000 words and 512 features with its two sizes swapped."""
    table = nn.Embedding(512, 10_000, device="meta")
    return str(tuple(table.weight.shape)), *raised(lambda: F.embedding(torch.tensor([700]), torch.zeros(512, 1)))


def another_name() -> Numbers:
    """Read a table by a name that it does not have."""
    module = nn.Module()
    module.register_buffer("positional_encoding", torch.zeros(4, 8))
    return raised(lambda: module.pe)


def called_a_flag() -> Numbers:
    """Call a tensor's flag as if it were a method."""
    table: Any = torch.zeros(4, 8)
    return raised(lambda: table.requires_grad(False))


def logarithm_of_a_float() -> Numbers:
    """Ask torch, not math, for the logarithm of 10000."""
    number: Any = 10000.0
    return raised(lambda: torch.log(number))


def without_superclass() -> Numbers:
    """Build and call a module whose constructor leaves out its superclass's, and takes the width for eps."""

    class Norm(nn.Module):
        def __init__(self, eps: float) -> None:
            self.eps = eps

        def forward(self, x: Tensor) -> nn.LayerNorm:
            return nn.LayerNorm(x.shape[-1], self.eps)

    norm = Norm(16)
    return raised(lambda: norm(normal(1, 6, 16)))


def built_instead_of_applied() -> Numbers:
    """Hand a ReLU built from the input to the dropout that follows."""
    x = normal(1, 6, 16)
    activation: Any = nn.ReLU
    return raised(lambda: F.dropout(activation(x)))
