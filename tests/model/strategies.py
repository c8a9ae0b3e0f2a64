"""Random small architectures, and random sentences and masks for them."""

from dataclasses import dataclass
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor

from playground import Encoder, ModelConfig
from playground.config import CHOICES, SETTINGS
from tests.model.reference import scramble

SWITCHES = ("scale_embeddings", "embedding_norm", "final_norm", "residual", "gated", "first_norm", "bias", "qk_norm")
MAX_LEN = 9


@st.composite
def configs(draw: st.DrawFn, /, **fixed: Any) -> ModelConfig:
    """Any architecture up to d_model 24 and 3 layers; `fixed` pins fields, and those that do not fit it follow."""
    # One feature alone has no unbiased deviation, which the scalar norm needs.
    n_heads, d_head = draw(st.tuples(st.integers(1, 4), st.integers(1, 6)).filter(lambda pair: pair != (1, 1)))
    fields: dict[str, Any] = {
        "vocab_size": draw(st.integers(1, 20)),
        "d_model": n_heads * d_head,
        "n_heads": n_heads,
        "n_layers": draw(st.integers(1, 3)),
        "d_ff": draw(st.integers(1, 32)),
        "max_len": MAX_LEN,
        "n_segments": draw(st.integers(0, 2)),
    }
    fields |= {name: draw(st.sampled_from(choices)) for name, choices in CHOICES.items()}
    fields |= {name: draw(st.booleans()) for name in (*SWITCHES, "share_layers", "fused_qkv")}
    fields |= {
        "d_head": draw(st.sampled_from([0, 0, 2, 4, 6])),
        "n_kv_heads": draw(st.sampled_from([0, *(n for n in range(1, n_heads + 1) if n_heads % n == 0)])),
        "d_embedding": draw(st.sampled_from([0, 0, 2, 5])),
        "window": draw(st.sampled_from([0, 0, 2, 4])),
        "global_every": draw(st.integers(0, 2)),
        "position_offset": draw(st.integers(0, 2)),
        "rotary_base": draw(st.sampled_from([10, 10_000])),
        "local_rotary_base": draw(st.sampled_from([0, 100])),
        "relative_buckets": draw(st.sampled_from([4, 8])),
        "relative_distance": draw(st.sampled_from([5, 128])),
    }
    others = {name: setting for name, setting in SETTINGS.items() if name not in (*fields, "dropout", "norm_eps")}
    fields |= {name: draw(st.sampled_from(each.stops or (False, True))) for name, each in others.items()}
    fields |= fixed
    if fields["qk_norm"] or fields["n_kv_heads"] not in (0, n_heads) or fields["fused_qkv"]:
        fields["tied"] = "separate"
    if fields["fused_qkv"]:
        fields["n_kv_heads"] = 0
    if fields["d_embedding"] % 2 or fields["d_model"] % 2 or not fields["vocab_size"]:
        fields["position_join"] = "add"
    if fields["positions"] in ("rotary", "alibi", "relative"):
        fields["position_join"] = "add"
    if fields["positions"] == "rotary" and fields["tied"] == "merged" and fields["d_model"] % 2:
        fields["tied"] = "shared"
    if fields["positions"] == "rotary" and (fields["d_head"] or d_head) % 2:
        fields["d_head"] = d_head + 1
    return ModelConfig(**fields)


@dataclass(frozen=True)
class Case:
    """A model with a batch for it: ids (B, T) and a mask in any form that the encoder takes."""

    config: ModelConfig
    model: Encoder
    ids: Tensor
    mask: Tensor | None

    @property
    def may_attend(self) -> Tensor:
        """The mask over (B, 1, Tq, Tk), written out."""
        B, T = self.ids.shape  # noqa: N806
        mask = torch.ones(1, 1, dtype=torch.bool) if self.mask is None else self.mask
        return (mask[:, None, None] if mask.ndim == 2 else mask[:, None]).expand(B, 1, T, T)


@st.composite
def cases(draw: st.DrawFn, /, **fixed: Any) -> Case:
    """A random model, batch and mask; some queries may be left with no key at all.

    In double precision: a norm over two nearly equal features enlarges any rounding, and a property is about formulas.
    """
    config = draw(configs(**fixed))
    model = Encoder(config, seed=draw(st.integers(0, 9))).double()
    if draw(st.booleans()):
        scramble(model)
    generator = torch.Generator().manual_seed(draw(st.integers(0, 999)))
    n_sentences, n_tokens = draw(st.integers(1, 3)), draw(st.integers(1, 6))
    ids = torch.randint(config.vocab_size, (n_sentences, n_tokens), generator=generator)
    keys, pairs = (n_sentences, n_tokens), (n_sentences, n_tokens, n_tokens)
    shape = draw(st.sampled_from([None, keys, pairs, (1, n_tokens, n_tokens)]))
    mask = None if shape is None else torch.rand(shape, generator=generator) < 0.6
    return Case(config, model, ids, mask)
