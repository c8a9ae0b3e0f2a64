"""The tutorials' mistakes, each made again in a few lines, and what comes of it in one sentence.

Everything is computed when it is asked for, on inputs small enough to follow by hand.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from playground.config import ModelConfig
from playground.model import Encoder, Trace, causal_mask
from playground.model.attention import attend
from playground.model.masks import AttentionMask
from playground.model.norms import build_norm
from playground.model.positions import sinusoids, wavelengths


def normal(*shape: int, seed: int = 0) -> Tensor:
    """Standard normal numbers, the same every time."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def small_encoder(**variant: Any) -> Encoder:
    """One block of width 16 with 4 heads and random weights, for raw vectors without positions."""
    config: dict[str, Any] = {"vocab_size": 0, "d_model": 16, "n_heads": 4, "n_layers": 1, "d_ff": 64}
    return Encoder(ModelConfig(**config | {"positions": "none"} | variant)).requires_grad_(False)


def raised(attempt: Callable[[], object]) -> str:
    """What an attempt raises, in Python's words."""
    try:
        attempt()
    except (AttributeError, RuntimeError, TypeError) as error:
        return f"{type(error).__name__}, `{str(error).splitlines()[0]}`"
    raise AssertionError("the attempt was expected to fail")


def doubled_exponent() -> str:
    """Count i twice in the exponent of the positions' frequencies."""
    standard, doubled = (
        ", ".join(f"{length:,.1f}" for length in wavelengths(16, doubled=twice)[:5].tolist()) for twice in (False, True)
    )
    off = (sinusoids(50, 16, doubled=True) - sinusoids(50, 16)).abs().max()
    return (
        f"At d_model 16 the wavelengths are {doubled} … positions instead of {standard} …; over 50 positions the two "
        f"tables differ by up to {off:.3f}."
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


def mask_in_place() -> str:
    """Add a mask with `+=` to scores that somebody else still holds."""
    scores = normal(3, 3)
    mine, before = scores, scores.clone()
    mine += torch.full((3, 3), -math.inf).triu(1)
    return f"{int((scores != before).sum())} of the caller's {scores.numel()} scores are −∞ afterwards."


def mask_never_arrives() -> str:
    """Leave out the mask between encoder and attention."""
    encoder, x = small_encoder(head_merge="reshape"), normal(1, 6, 16)
    off = (encoder.encode(x, causal_mask(6)) - encoder.encode(x)).abs().max()
    return f"A causal mask that arrives moves the outputs of six tokens by up to {off:.2f}; here none does."


def post_norm_called_pre() -> str:
    """Run the same weights both ways, and look at what the final norm still finds to do."""
    variant: dict[str, Any] = {"activation": "gelu", "final_norm": True}
    x, trace = normal(1, 6, 16), Trace()
    post = small_encoder(**variant).encode(x, trace=trace)
    pre = small_encoder(**variant, norm_placement="pre").encode(x)
    moved = (trace["final"] - trace["layers.0.out"]).abs().max()
    return (
        f"With the same weights, pre-norm outputs would differ by up to {(post - pre).abs().max():.2f}; and before "
        f"training the final norm changes its already normalised input by {moved:.0e} at most."
    )


def permuted_tokens() -> str:
    """Put the tokens into another order, and compare outputs in place and token by token."""
    encoder, x, order = small_encoder(), normal(1, 6, 16), torch.tensor([3, 0, 5, 1, 4, 2])
    out, permuted = encoder.encode(x), encoder.encode(x[:, order])
    return (
        f"Six tokens in another order, without positions: place by place the outputs differ by up to "
        f"{(permuted - out).abs().max():.2f}, token by token by {(permuted - out[:, order]).abs().max():.0e}."
    )


def odd_width() -> str:
    """Fill every second column of a table with an odd number of columns."""
    table, angles = torch.zeros(4, 5), torch.zeros(4, 3)
    sines, cosines = table[:, 0::2], table[:, 1::2]
    message = raised(lambda: cosines.copy_(angles.cos()))
    return f"d_model 5 has {sines.shape[1]} columns for sines and {cosines.shape[1]} for cosines: {message}"


def longer_than_the_table() -> str:
    """Add six tokens to a table of five positions."""
    return f"Six tokens, a table of five: {raised(lambda: normal(1, 6, 16) + sinusoids(5, 16)[:6])}"


def scalar_norm() -> str:
    """Normalise the same numbers by tutorial A's norm and by LayerNorm."""
    x, norms = normal(10, 8), []
    for kind in ("scalar", "layer"):
        norm = build_norm(ModelConfig(vocab_size=0, d_model=8, norm=kind))
        norm.load_state_dict({name: torch.ones_like(t) * (name == "gain") for name, t in norm.state_dict().items()})
        norms.append(norm(x).detach())
    off = (norms[0] - norms[1]).abs().max()
    return (
        f"Ten random vectors of 8 features: the largest difference from LayerNorm is {off:.2f}, most of it the "
        f"factor √(7/8) = {math.sqrt(7 / 8):.3f} between the two deviations."
    )


def minus_a_billion() -> str:
    """Mask every key of a row by −1e9, and by a boolean mask."""
    q = k = normal(1, 1, 3, 4)
    nothing = torch.zeros(1, 1, 3, 3, dtype=torch.bool)
    filled = (q @ k.transpose(-2, -1)).masked_fill(~nothing, -1e9).softmax(-1)[0, 0, 0]
    trace = Trace()
    attend(q, k, k, AttentionMask(nothing), trace=trace)
    rows = [", ".join(f"{weight:.3f}" for weight in row) for row in (filled, trace["pattern"][0, 0, 0])]
    return f"Three keys, all masked: −1e9 attends to ({rows[0]}), this playground to ({rows[1]})."


def called_a_number() -> str:
    """Call the dimension where the table was meant."""
    d_model: Any = 512
    return f"512(ids): {raised(lambda: d_model(torch.tensor([1, 2])))}"


def logarithm_of_a_float() -> str:
    """Ask torch, not math, for the logarithm of 10000."""
    number: Any = 10000.0
    return f"torch.log(10000.0): {raised(lambda: torch.log(number))}"


def exponent_before_scaling() -> str:
    """Take the exponential of the columns' numbers first, and scale afterwards."""
    columns = torch.arange(0, 512, 2.0)
    overflowed = int(columns.exp().isinf().sum())
    return f"At d_model 512, {overflowed} of {columns.numel()} exponentials overflow to ∞ before they are scaled."


def without_superclass() -> str:
    """Set a parameter in a module whose constructor leaves out its superclass's."""

    class Norm(nn.Module):
        def __init__(self) -> None:
            self.gain = nn.Parameter(torch.ones(8))

    return raised(Norm)


def built_instead_of_applied() -> str:
    """Hand a ReLU built from the input to the next linear map."""
    x = normal(1, 6, 16)
    activation: Any = nn.ReLU
    return raised(lambda: F.linear(activation(x), torch.ones(16, 16)))


def queries_masked_for_keys() -> str:
    """Mask a target's padding by rows, with padding in second place, and by columns."""
    real = torch.tensor([True, False, True, True])
    ahead = causal_mask(4)[0]
    by_rows, by_columns = ahead & real[:, None], ahead & real[None, :]
    return (
        f"Four tokens, the second is padding: masked by rows it attends to {int(by_rows[1].sum())} keys, and "
        f"{int(by_rows[real][:, 1].sum())} later tokens still attend to it; masked by columns, "
        f"{int(by_columns[real][:, 1].sum())} do."
    )
