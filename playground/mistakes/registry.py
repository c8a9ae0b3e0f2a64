"""The mistakes: registry.yaml describes each one, `MAKINGS` has how the model's own pass makes it.

To add one: an entry in both, and its line in `tests/mistakes/plain_pass.py`.
"""

import copy
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn

from playground.config import ModelConfig
from playground.mistakes.edits import EditedTrace, Making, Scores, device_of
from playground.model import Encoder
from playground.model.attention import Attention
from playground.model.blocks import ACTIVATIONS, Transform
from playground.model.encoder import Embeddings
from playground.model.norms import LayerNorm, scale
from playground.model.positions import frequencies, sinusoids
from playground.model.trace import UNTRACED, Trace
from playground.text.data import load_data

Applies = Callable[[ModelConfig, Tensor | None], bool]
"""Whether a config with this mask can make a mistake."""

Lines = tuple[str, str]
"""Code with the mistake, and without."""


@dataclass(frozen=True)
class Mistake:
    """One mistake, made in every layer."""

    key: str
    title: str
    meaning: str
    symptom: str
    """What its maker notices."""
    test: str
    """The cheapest one."""
    source: str
    """Where it was seen."""
    part: str
    """Of the code; two mistakes of one part exclude each other."""
    shows: str
    """The end of the first wrong tensor's name."""
    making: Making
    applies: Applies
    write_lines: Callable[[ModelConfig], Lines]


# --- modules with other attributes, which share their weights


def _copy_module(module: Any, **attributes: Any) -> Any:
    """Return the module with other attributes, sharing its parameters."""
    twin = copy.copy(module)
    twin.__dict__ = dict(module.__dict__)
    twin._modules = dict(module._modules)
    twin._buffers = dict(module._buffers)
    for name, value in attributes.items():
        # A function takes the place of the class's method.
        (twin._modules if isinstance(value, nn.Module) else twin.__dict__)[name] = value
    return twin


def _change_embeddings(change: Callable[[Encoder], Mapping[str, Any]]) -> Making:
    return Making(lambda encoder: _copy_module(encoder, embed=_copy_module(encoder.embed, **change(encoder))))


def _change_blocks(change: Callable[[Any, ModelConfig], Mapping[str, Any]]) -> Making:
    def make(encoder: Encoder) -> Encoder:
        blocks = nn.ModuleList(_copy_module(block, **change(block, encoder.config)) for block in encoder.layers)
        changed: Encoder = _copy_module(encoder, layers=blocks)
        return changed

    return Making(make)


def _change_attention(change: Callable[[Attention], Mapping[str, Any]]) -> Making:
    return _change_blocks(lambda block, _: {"attn": _copy_module(block.attn, **change(block.attn))})


# --- positions


def _change_positions(change: Callable[[Embeddings, int], Tensor]) -> Making:

    def rows(encoder: Encoder, n: int) -> Tensor:
        return change(encoder.embed, n).to(device_of(encoder))

    return _change_embeddings(lambda encoder: {"position_vectors": lambda n, _=None: rows(encoder, n)})


def _count_from_one(embed: Embeddings, n: int) -> Tensor:
    """Return the rows from the second on; after a table's end, its last one again."""
    rows = embed.position_vectors(min(n + 1, embed.config.max_len))
    return torch.cat([rows[1:], rows[-1:]])[:n]


def _draw_waves(embed: Embeddings, n: int, *, in_halves: bool = False, lag: float = 0.0) -> Tensor:
    """Return sines and cosines, side by side or in halves; `lag` / width is added to the cosines' exponents."""
    width = embed.config.embedding_width
    angles = torch.arange(n)[:, None] * frequencies(width)  # (n, ⌈width / 2⌉)
    waves = [angles.sin(), (angles * 10_000 ** (-lag / width)).cos()]
    table = torch.cat(waves, dim=-1) if in_halves else torch.stack(waves, dim=-1).flatten(1)
    return table[:, :width].float()


# --- attention


def _attend_over_batch(attention: Attention) -> Mapping[str, Any]:
    """Attend to the same place in all sentences; a sentence's own weights are shown."""

    def show(name: str, tensor: Tensor) -> Tensor:
        if name in ("in", "out"):
            return tensor.transpose(0, 1)  # (T, B, d_model) → (B, T, d_model)
        if name not in ("scores", "pattern"):
            return tensor.transpose(0, 2)  # (T, H, B, d_head) → (B, H, T, d_head)
        own = torch.diag_embed(tensor.diagonal(dim1=-2, dim2=-1).permute(2, 1, 0))  # (T, H, B, B) → (B, H, T, T)
        others = torch.eye(own.shape[-1], device=own.device) == 0
        return own.masked_fill(others, -math.inf if name == "scores" else 0.0)

    def forward(x: Tensor, mask: Any = None, trace: EditedTrace | None = None) -> Tensor:
        assert trace is not None  # noqa: S101
        inner = trace.apart()
        out = Attention.forward(attention, x.transpose(0, 1), trace=inner)
        trace.take_over(inner, show)
        return out.transpose(0, 1)

    return {"forward": forward}


# --- masks


def _show_all(scores: Scores) -> Scores:
    return replace(scores, allowed=torch.ones_like(scores.allowed))


def _find_padded(scores: Scores) -> Tensor:
    return ~scores.allowed.any(dim=-2, keepdim=True)  # (B, H, 1, T)


def _mask_rows(scores: Scores) -> Scores:
    """Hide padded tokens as queries instead of keys."""
    every = torch.ones_like(scores.allowed)
    is_causal = every.shape[-1] > 1 and not bool(scores.allowed.triu(1).any())
    return replace(scores, allowed=(every.tril() if is_causal else every) & ~_find_padded(scores).transpose(-2, -1))


def _shift_causal(scores: Scores, diagonal: int) -> Scores:
    return replace(scores, allowed=torch.ones_like(scores.allowed).tril(diagonal) & ~_find_padded(scores))


# --- blocks


def _change_norms(change: Callable[[ModelConfig], Mapping[str, Any]]) -> Making:
    """Give norms other attributes: `eps`, or those that `_normalise` reads."""

    def copy_norms(module: Any, config: ModelConfig, *names: str, **attributes: Any) -> Any:
        norms = {name: norm for name in names if (norm := getattr(module, name)) is not None}
        twins = {name: _copy_module(norm, **change(config)) for name, norm in norms.items()}
        for twin in (twin for twin in twins.values() if isinstance(twin, LayerNorm)):
            twin.forward = partial(_normalise, twin)  # type: ignore[method-assign]
        return _copy_module(module, **twins, **attributes)

    def make(encoder: Encoder) -> Encoder:
        config, embed = encoder.config, copy_norms(encoder.embed, encoder.config, "norm")
        layers = nn.ModuleList(copy_norms(block, config, "norm1", "norm2") for block in encoder.layers)
        changed: Encoder = copy_norms(encoder, config, "final_norm", embed=embed, layers=layers)
        return changed

    return Making(make)


def _normalise(norm: LayerNorm, x: Tensor, trace: Trace = UNTRACED) -> Tensor:
    axis, correction = getattr(norm, "axis", -1), getattr(norm, "correction", 0)
    root = getattr(norm, "root", lambda variance, eps: torch.sqrt(variance + eps))
    variance, mean = torch.var_mean(trace.record("in", x), dim=axis, correction=correction, keepdim=True)
    normalized = trace.record("normalized", (x - mean) / root(variance, norm.eps))
    return trace.record("out", scale(normalized, norm.gain, norm.bias))


def _other_eps(config: ModelConfig) -> float:
    """Return PyTorch's 1e-5, or BERT's 1e-12 for a larger one."""
    return 1e-5 if config.norm_eps < 1e-5 else 1e-12


def _add_normed(x: Tensor, f: Transform, norm: Transform, note: Transform) -> Tensor:
    normed = norm(x)
    return note(normed + f(normed))


def _change_activation(choose: Callable[[ModelConfig], str]) -> Making:
    """Apply another activation; `none` leaves it out."""

    def change(block: Any, config: ModelConfig) -> Mapping[str, Any]:
        return {"ffn": _copy_module(block.ffn, activation=ACTIVATIONS.get(choose(config), lambda x: x))}

    return _change_blocks(change)


def _swap_relu(config: ModelConfig) -> str:
    return "gelu" if config.activation == "relu" else "relu"


def _swap_tanh(config: ModelConfig) -> str:
    return "gelu-tanh" if config.activation == "gelu" else "gelu"


# --- which models can make it


def _if(condition: Callable[[ModelConfig], bool]) -> Applies:
    return lambda config, mask: condition(config)


_ALWAYS = _if(lambda c: True)
_HEADS = _if(lambda c: c.n_heads > 1)
_TABLE = _if(lambda c: c.has_position_table and c.position_join == "add")
_SINUSOIDS = _if(lambda c: c.positions == "sinusoidal" and c.position_join == "add")
_SIDES = _if(lambda c: c.tied != "shared")
_NORM = _if(lambda c: c.norm != "none")
_LAYER_NORM = _if(lambda c: c.norm == "layer")


def _has_mask(_: ModelConfig, mask: Tensor | None) -> bool:
    return mask is not None and not bool(mask.all())


def _has_padding(_: ModelConfig, mask: Tensor | None) -> bool:
    """Whether some token is hidden from every query."""
    return mask is not None and not bool((mask if mask.ndim == 2 else mask.any(dim=-2)).all())


def _is_causal(_: ModelConfig, mask: Tensor | None) -> bool:
    return mask is not None and mask.ndim == 3 and mask.shape[-1] > 1 and not bool(mask.triu(1).any())


MAKINGS: Mapping[str, tuple[Making, Applies]] = {
    "no-embedding-scale": (
        _change_embeddings(lambda encoder: {"config": replace(encoder.config, scale_embeddings=False)}),
        _if(lambda c: c.scale_embeddings and c.vocab_size > 0),
    ),
    "positions-not-added": (_change_positions(lambda embed, n: torch.zeros(n, 1)), _TABLE),
    "doubled-exponent": (
        _change_positions(lambda embed, n: sinusoids(n, embed.config.embedding_width, doubled=True)),
        _SINUSOIDS,
    ),
    "integer-positions": (_change_positions(lambda embed, n: torch.arange(n).float()[:, None]), _TABLE),
    "positions-twice": (_change_positions(lambda embed, n: 2 * embed.position_vectors(n)), _TABLE),
    "positions-from-one": (_change_positions(_count_from_one), _TABLE),
    "sinusoids-in-halves": (_change_positions(partial(_draw_waves, in_halves=True)), _SINUSOIDS),
    "exponent-per-column": (_change_positions(partial(_draw_waves, lag=1)), _SINUSOIDS),
    "split-without-transpose": (
        _change_attention(lambda a: {"heads": lambda x, w=0: x.reshape(x.shape[0], -1, x.shape[1], w or a.d_head)}),
        _HEADS,
    ),
    "merge-without-transpose": (
        _change_attention(lambda _: {"head_merge": "reshape"}),
        _if(lambda c: c.n_heads > 1 and c.head_merge == "transpose"),
    ),
    "output-projection-forgotten": (
        _change_attention(lambda _: {"o": nn.Identity()}),
        _if(lambda c: c.n_heads * c.head_width == c.d_model),
    ),
    "query-key-weights-swapped": (
        _change_attention(lambda a: {"project": lambda *x: itemgetter(1, 0, 2)(Attention.project(a, *x))}),
        _if(lambda c: c.kv_heads == c.n_heads and c.tied == "separate"),
    ),
    "axes-exchanged": (
        _change_attention(_attend_over_batch),
        lambda config, mask: mask is None and config.window == 0 and not config.has_position_bias,
    ),
    "query-key-swapped": (Making(scores=lambda s: replace(s, product=s.product.transpose(-2, -1))), _SIDES),
    "no-score-scale": (
        Making(scores=lambda s: replace(s, product=s.product * math.sqrt(s.d_head))),
        _if(lambda c: c.head_width > 1),
    ),
    "scale-by-d-model": (
        Making(scores=lambda s: replace(s, product=s.product * math.sqrt(s.d_head / s.d_model))),
        _HEADS,
    ),
    "softmax-over-queries": (Making(scores=lambda s: replace(s, axis=-2)), _ALWAYS),
    "mask-forgotten": (Making(scores=_show_all), _has_mask),
    "mask-inverted": (Making(scores=lambda s: replace(s, allowed=~s.allowed)), _has_mask),
    "mask-after-softmax": (Making(scores=lambda s: replace(_show_all(s), kept=s.allowed)), _has_mask),
    "masked-query-rows": (Making(scores=_mask_rows), _has_padding),
    "no-peek-off-by-one": (Making(scores=lambda s: _shift_causal(s, 1)), _is_causal),
    "hides-itself": (Making(scores=lambda s: _shift_causal(s, -1)), _is_causal),
    "causal-mask-left": (
        Making(scores=lambda s: replace(s, allowed=s.allowed.tril())),
        lambda config, mask: not _is_causal(config, mask),
    ),
    "float-mask-added": (
        Making(scores=lambda s: replace(_show_all(s), product=s.product + s.allowed.to(s.product))),
        _has_mask,
    ),
    "norm-over-sequence": (_change_norms(lambda _: {"axis": 1}), _LAYER_NORM),
    "unbiased-variance": (_change_norms(lambda _: {"correction": 1}), _LAYER_NORM),
    "eps-outside-root": (
        _change_norms(lambda _: {"root": lambda variance, eps: torch.sqrt(variance) + eps}),
        _LAYER_NORM,
    ),
    "root-of-deviation": (
        _change_norms(lambda _: {"root": lambda variance, eps: torch.sqrt(torch.sqrt(variance) + eps)}),
        _LAYER_NORM,
    ),
    "other-eps": (_change_norms(lambda config: {"eps": _other_eps(config)}), _NORM),
    "norm-order-swapped": (_change_blocks(lambda block, _: {"post_norm": not block.post_norm}), _NORM),
    "residual-forgotten": (_change_blocks(lambda block, _: {"residual": False}), _if(lambda c: c.residual)),
    "residual-from-normed": (
        _change_blocks(lambda block, _: {"connect": _add_normed}),
        _if(lambda c: c.norm_placement == "pre" and c.norm != "none" and c.residual),
    ),
    "activation-forgotten": (_change_activation(lambda _: "none"), _ALWAYS),
    "relu-for-gelu": (_change_activation(_swap_relu), _if(lambda c: c.activation != "silu")),
    "gelu-by-tanh": (_change_activation(_swap_tanh), _if(lambda c: c.activation in ("gelu", "gelu-tanh"))),
    "dropout-left-on": (Making(drops=True), _ALWAYS),
    "shared-layers": (
        Making(lambda encoder: _copy_module(encoder, layers=nn.ModuleList([encoder.layers[0]] * len(encoder.layers)))),
        _if(lambda c: c.n_layers > 1 and not c.share_layers),
    ),
}


# --- its lines of code

_CALLS = {
    "relu": "F.relu(up(x))",
    "gelu": "F.gelu(up(x))",
    "gelu-tanh": 'F.gelu(up(x), approximate="tanh")',
    "silu": "F.silu(up(x))",
    "none": "up(x)",
}


def _write_activation(config: ModelConfig, wrong: str) -> Lines:
    gate = " * gate(x)" if config.gated else ""
    return f"hidden = {_CALLS[wrong]}{gate}", f"hidden = {_CALLS[config.activation]}{gate}"


def _write_sublayer(config: ModelConfig, *, swaps: bool = False, residual: bool = True) -> str:
    """Return a sublayer with its norms; `swaps` puts them on the other side."""
    is_post, has_norm = (config.norm_placement == "post") != swaps, config.norm != "none"
    line = "f(norm(x))" if has_norm and not is_post else "f(x)"
    line = f"post_norm({line})" if has_norm and config.norm_placement == "both" else line
    line = f"x + {line}" if residual and config.residual else line
    return f"x = norm({line})" if has_norm and is_post else f"x = {line}"


_LINES: Mapping[str, Callable[[ModelConfig], Lines]] = {
    "other-eps": lambda c: (f"norm.eps = {_other_eps(c):g}", f"norm.eps = {c.norm_eps:g}"),
    "norm-order-swapped": lambda c: (_write_sublayer(c, swaps=True), _write_sublayer(c)),
    "residual-forgotten": lambda c: (_write_sublayer(c, residual=False), _write_sublayer(c)),
    "activation-forgotten": lambda c: _write_activation(c, "none"),
    "relu-for-gelu": lambda c: _write_activation(c, _swap_relu(c)),
    "gelu-by-tanh": lambda c: _write_activation(c, _swap_tanh(c)),
}
"""Lines that depend on the architecture; others are in registry.yaml."""


def _build(key: str, wrong: str = "", right: str = "", **words: str) -> Mistake:
    lines = _LINES.get(key, lambda _: (wrong, right))
    return Mistake(key, **words, making=MAKINGS[key][0], applies=MAKINGS[key][1], write_lines=lines)


MISTAKES: Mapping[str, Mistake] = MappingProxyType(
    {key: _build(key, **each) for key, each in load_data(__file__).items()}
)
"""By key, in the order of the computation."""
