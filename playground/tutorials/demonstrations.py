"""The tutorials' mistakes, each made again in a few lines, and what comes of it: one sentence, or Python's words.

Everything is computed when it is asked for, on inputs small enough to follow by hand, and in double precision: what a
sentence states is the mistake's doing, and not rounding's.
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


def normal(*shape: int, seed: int = 0) -> Tensor:
    """Standard normal numbers in double precision, the same every time."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).double()


def small_encoder(**variant: Any) -> Encoder:
    """One block of width 16 with 4 heads and random weights, for raw vectors without positions."""
    config: dict[str, Any] = {"vocab_size": 0, "d_model": 16, "n_heads": 4, "n_layers": 1, "d_ff": 64}
    return Encoder(ModelConfig(**config | {"positions": "none"} | variant)).double().requires_grad_(False)


def plain_norm(config: ModelConfig) -> nn.Module:
    """The config's norm in double precision, with gain 1 and bias 0."""
    norm = build_norm(config).double().requires_grad_(False)
    norm.load_state_dict({name: torch.ones_like(t) * (name == "gain") for name, t in norm.state_dict().items()})
    return norm


def doubled_exponent() -> str:
    """Count i twice in the exponent of the positions' frequencies."""
    standard, doubled = (
        ", ".join(f"{length:,.1f}" for length in wavelengths(16, doubled=twice)[:5].tolist()) for twice in (False, True)
    )
    off = (sinusoids(50, 16, doubled=True) - sinusoids(50, 16)).abs().max()
    return (
        f"At d_model 16 the wavelengths are {doubled} … positions instead of {standard} …: from one to the next, × "
        f"{10_000 ** (4 / 16):.4g} instead of × {10_000 ** (2 / 16):.4g}. Over 50 positions the two tables differ by "
        f"up to {off:.3f}."
    )


def changed_positions(head_merge: str) -> list[int]:
    """The positions whose output moves when the last of six tokens does, although a causal mask hides it."""
    encoder, x = small_encoder(head_merge=head_merge), normal(1, 6, 16)
    other = x.clone()
    other[:, -1] += 1
    before, after = (encoder.encode(vectors, causal_mask(6)) for vectors in (x, other))
    return torch.nonzero((after - before).abs().amax(-1)[0] > 1e-6).flatten().tolist()


def leaking_merge() -> str:
    """Reshape heads (B, H, T, d_head) to (B, T, d_model) without transposing first."""
    wrong, right = changed_positions("reshape"), changed_positions("transpose")
    return (
        f"Six tokens, causal mask, the last token changed: the outputs at positions {', '.join(map(str, wrong))} "
        f"change; with the transpose, only at {', '.join(map(str, right))}."
    )


def mask_of_ones_and_zeros() -> str:
    """Add a causal mask of 1 and 0 to scores that are all equal."""
    later = torch.ones(3, 3).tril().softmax(-1)[0, 1:].sum()
    return f"Three tokens with equal scores: the first gives the two after it {later:.0%} of its attention."


def mask_never_arrives() -> str:
    """Leave out the mask between encoder and attention."""
    encoder, x = small_encoder(head_merge="reshape"), normal(1, 6, 16)
    off = (encoder.encode(x, causal_mask(6)) - encoder.encode(x)).abs().max()
    return f"A causal mask that arrives moves the outputs of six tokens by up to {off:.2f}; here none does."


def post_norm_called_pre() -> str:
    """Run the same weights both ways, and look at what the final norm still finds to do."""
    variant: dict[str, Any] = {"activation": "gelu", "final_norm": True}
    x, trace, encoder = normal(1, 6, 16), Trace(), small_encoder(**variant)
    post = encoder.encode(x, trace=trace)
    pre = small_encoder(**variant, norm_placement="pre").encode(x)
    moved = (trace["final"] - trace["layers.0.out"]).abs().max()
    return (
        f"With the same weights, pre-norm outputs would differ by up to {(post - pre).abs().max():.2f}. Before "
        f"training, the final norm changes its already normalised input by {write_number(moved.item(), 2)} at most, "
        "and only because of "
        f"ε = {write_number(encoder.config.norm_eps)}."
    )


def pre_norm_called_post() -> str:
    """Run tutorial A's encoder with the norms before each sublayer, as its code does, and after, as its text says."""
    x, variant = normal(1, 6, 16), {"norm": "scalar", "final_norm": True}
    before, after = (small_encoder(**variant, norm_placement=place).encode(x) for place in ("pre", "post"))
    return f"With the same weights, the two orders differ by up to {(before - after).abs().max():.2f}."


def dropout_left_on() -> str:
    """Send the same vectors twice through an encoder in training mode, and twice in evaluation mode."""
    encoder, x = small_encoder(dropout=0.1), normal(1, 6, 16)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        train = (encoder.train().encode(x) - encoder.encode(x)).abs().max()
    steady = (encoder.eval().encode(x) - encoder.encode(x)).abs().max()
    return (
        f"Two calls with the same input differ by up to {train:.2f} with dropout on, and by {steady:.0f} with it off."
    )


def no_dropout_on_weights() -> str:
    """Drop a tenth of the attention weights of six tokens, as tutorial C's text says, and none, as its code does."""
    trace = Trace()
    small_encoder(dropout=0.1).encode(normal(1, 6, 16), trace=trace)
    weights = trace["layers.0.attn.pattern"]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        sums = F.dropout(weights, 0.1).sum(-1)
    return (
        f"Without dropout on them, the weights of a query add up to {weights.sum(-1).mean():.2f}. With a dropout of "
        f"0.1 on them, those of six tokens in four heads add up to between {sums.min():.2f} and {sums.max():.2f}."
    )


def unrelated_tensors() -> str:
    """Take queries and keys from two texts, and from one."""
    x, other = normal(1, 1, 10, 16), normal(1, 1, 10, 16, seed=1)
    cross, own = ((x @ keys.transpose(-2, -1) / math.sqrt(16)).softmax(-1) for keys in (other, x))
    to_itself = [weights[0, 0].diagonal().mean().item() for weights in (cross, own)]
    return (
        f"Ten random vectors of width 16 give their own place a mean weight of {to_itself[1]:.2f} if keys come from "
        f"the same vectors, and {to_itself[0]:.2f} if they come from others."
    )


def unbiased_deviation() -> str:
    """Normalise 512 features, and take the deviation as torch's `std` does."""
    deviation = plain_norm(ModelConfig(vocab_size=0))(normal(1, 512)).std().item()
    return (
        f"At d_model 512 it is {deviation:.5f}. The two divisors alone would make it √(512/511) = "
        f"{math.sqrt(512 / 511):.5f}; the norm's ε takes a little away."
    )


def layers_of_bert() -> str:
    """Count the layers of both."""
    ours, bert = PRESETS["tutorial-d"].config, PRESETS["bert-base"].config
    return (
        f"The notebook: {ours.n_layers} layers, d_model {ours.d_model}, {ours.n_heads} heads. "
        f"BERT base: {bert.n_layers} layers, d_model {bert.d_model}, {bert.n_heads} heads."
    )


def permuted_tokens() -> str:
    """Put the tokens into another order, and compare outputs in place and token by token."""
    encoder, x, order = small_encoder(), normal(1, 6, 16), torch.tensor([3, 0, 5, 1, 4, 2])
    out, permuted = encoder.encode(x), encoder.encode(x[:, order])
    return (
        f"Six tokens in another order, without positions: place by place the outputs differ by up to "
        f"{(permuted - out).abs().max():.2f}, token by token by {(permuted - out[:, order]).abs().max():.0e}."
    )


def scalar_norm() -> str:
    """Normalise the same numbers by tutorial A's norm and by LayerNorm."""
    x = normal(10, 8)
    scalar, layer = (plain_norm(ModelConfig(vocab_size=0, d_model=8, norm=kind))(x) for kind in ("scalar", "layer"))
    off = (scalar - layer).abs().max()
    return (
        f"Ten random vectors of 8 features: the largest difference from LayerNorm is {off:.2f}, most of it the "
        f"factor √(7/8) = {math.sqrt(7 / 8):.3f} between the two deviations."
    )


def exponent_before_scaling() -> str:
    """Take the exponential of the columns' numbers first, and scale afterwards."""
    columns = torch.arange(0, 512, 2.0)
    overflowed = int(columns.exp().isinf().sum())
    return f"At d_model 512, {overflowed} of {columns.numel()} exponentials overflow to ∞ before they are scaled."


def queries_masked_for_keys() -> str:
    """Mask a target's padding by rows, with padding in second place, and by columns."""
    real = torch.tensor([True, False, True, True])
    ahead = causal_mask(4)[0]
    by_rows, by_columns = ahead & real[:, None], ahead & real[None, :]
    weights = normal(4, 4).masked_fill(~by_rows, -1e9).softmax(-1)[1]
    return (
        f"Four tokens, the second is padding. Masked by rows with −1e9, it attends to "
        f"({', '.join(f'{weight:.2f}' for weight in weights)}), and {int(by_rows[real][:, 1].sum())} later tokens "
        f"still attend to it. Masked by columns, {int(by_columns[real][:, 1].sum())} do."
    )


def raised(attempt: Callable[[], object]) -> str:
    """What an attempt raises, in Python's words."""
    try:
        attempt()
    except (AttributeError, IndexError, RuntimeError, TypeError) as error:
        return f"{type(error).__name__}, `{str(error).splitlines()[0]}`"
    raise AssertionError("the attempt was expected to fail")


def odd_width() -> str:
    """Fill every second column of a table with an odd number of columns."""
    table, angles = torch.zeros(4, 5), torch.zeros(4, 3)
    sines, cosines = table[:, 0::2], table[:, 1::2]
    message = raised(lambda: cosines.copy_(angles.cos()))
    return f"d_model 5 has {sines.shape[1]} columns for sines and {cosines.shape[1]} for cosines: {message}"


def longer_than_the_table() -> str:
    """Add six tokens to a table of five positions."""
    return f"Six tokens, a table of five: {raised(lambda: normal(1, 6, 16) + sinusoids(5, 16)[:6])}"


def called_a_number() -> str:
    """Call the dimension where the table was meant."""
    d_model: Any = 512
    return f"512(ids): {raised(lambda: d_model(torch.tensor([1, 2])))}"


def swapped_arguments() -> str:
    """Build a table of 10,000 words and 512 features with its two sizes swapped."""
    table = nn.Embedding(512, 10_000, device="meta")
    message = raised(lambda: F.embedding(torch.tensor([700]), torch.zeros(512, 1)))
    return f"The table has the shape {tuple(table.weight.shape)}; the word of id 700: {message}"


def another_name() -> str:
    """Read a table by a name that it does not have."""
    module = nn.Module()
    module.register_buffer("positional_encoding", torch.zeros(4, 8))
    return raised(lambda: module.pe)


def called_a_flag() -> str:
    """Call a tensor's flag as if it were a method."""
    table: Any = torch.zeros(4, 8)
    return raised(lambda: table.requires_grad(False))


def logarithm_of_a_float() -> str:
    """Ask torch, not math, for the logarithm of 10000."""
    number: Any = 10000.0
    return f"torch.log(10000.0): {raised(lambda: torch.log(number))}"


def without_superclass() -> str:
    """Build and call a module whose constructor leaves out its superclass's, and takes the width for eps."""

    class Norm(nn.Module):
        def __init__(self, eps: float) -> None:
            self.eps = eps

        def forward(self, x: Tensor) -> nn.LayerNorm:
            return nn.LayerNorm(x.shape[-1], self.eps)

    norm = Norm(16)
    return f"Norm({norm.eps}) is built. Its call: {raised(lambda: norm(normal(1, 6, 16)))}"


def built_instead_of_applied() -> str:
    """Hand a ReLU built from the input to the dropout that follows."""
    x = normal(1, 6, 16)
    activation: Any = nn.ReLU
    return raised(lambda: F.dropout(activation(x)))
