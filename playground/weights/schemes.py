"""Who names a model's parameters how: a table, our name → theirs, for each naming scheme."""

from dataclasses import dataclass

Names = dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Scheme:
    """How somebody else names a model's parameters; `{i}` stands for the layer."""

    names: Names
    """Our name → theirs. Queries, keys and values are our `attn.qkv`, one below the other; three foreign names hold one
    each."""

    head_by_head: bool = False
    """The foreign queries, keys and values lie (head, [q k v], d_head) in their one tensor, as in our fused models."""

    spellings: tuple[tuple[str, str], ...] = ()
    """Patterns in foreign names and what to put for them, where one tensor goes by several names."""

    ignored: str | None = None
    """Pattern of the foreign tensors that are no part of a model."""

    position_table: str | None = None
    """A foreign tensor (…, d_model) of sines and cosines, which we compute: it may be missing, and is not copied."""

    untouched: tuple[str, ...] = ()
    """Prefixes of our parameters that the scheme does not know: they keep their values."""


def _linear(ours: str, *theirs: str) -> Names:
    return {f"{ours}.{part}": tuple(f"{name}.{part}" for name in theirs) for part in ("weight", "bias")}


def _norm(ours: str, theirs: str, gain: str = "weight", bias: str = "bias") -> Names:
    return {f"{ours}.gain": (f"{theirs}.{gain}",), f"{ours}.bias": (f"{theirs}.{bias}",)}


def _own(*queries_keys_values: str) -> Names:
    """Our names for an `Encoder`'s parameters, with queries, keys and values in one tensor or in three."""
    names: Names = {
        f"embed.{table}.weight": (f"embed.{table}.weight",) for table in ("tokens", "positions", "segments")
    }
    names |= _linear("layers.{i}.attn.qkv", *queries_keys_values)
    for linear in ("attn.o", "ffn.up", "ffn.down"):
        names |= _linear(f"layers.{{i}}.{linear}", f"layers.{{i}}.{linear}")
    for norm in ("embed.norm", "layers.{i}.norm1", "layers.{i}.norm2", "final_norm"):
        names |= _norm(norm, norm, gain="gain")
    return names


def _torch_attention(ours: str, theirs: str) -> Names:
    """torch.nn.MultiheadAttention."""
    packed = {f"{ours}.qkv.{part}": (f"{theirs}.in_proj_{part}",) for part in ("weight", "bias")}
    return packed | _linear(f"{ours}.o", f"{theirs}.out_proj")


def _torch_layer(ours: str, theirs: str, attentions: dict[str, str]) -> Names:
    """torch.nn.TransformerEncoderLayer, or TransformerDecoderLayer with its two attentions: our name → theirs."""
    names = _linear(f"{ours}.ffn.up", f"{theirs}.linear1") | _linear(f"{ours}.ffn.down", f"{theirs}.linear2")
    for attention, name in attentions.items():
        names |= _torch_attention(f"{ours}.{attention}", f"{theirs}.{name}")
    for n in range(1, len(attentions) + 2):
        names |= _norm(f"{ours}.norm{n}", f"{theirs}.norm{n}")
    return names


SCHEMES = {
    # torch.nn.TransformerEncoder's state dict
    "torch": Scheme(
        {
            **_torch_layer("layers.{i}", "layers.{i}", {"attn": "self_attn"}),
            **_norm("final_norm", "norm"),
        },
        untouched=("embed.",),
    ),
    # Hugging Face's BertModel; "bert.", gamma and beta are how checkpoints with heads, and older ones, spell it
    "bert": Scheme(
        {
            "embed.tokens.weight": ("embeddings.word_embeddings.weight",),
            "embed.positions.weight": ("embeddings.position_embeddings.weight",),
            "embed.segments.weight": ("embeddings.token_type_embeddings.weight",),
            **_norm("embed.norm", "embeddings.LayerNorm"),
            **_linear(
                "layers.{i}.attn.qkv",
                "encoder.layer.{i}.attention.self.query",
                "encoder.layer.{i}.attention.self.key",
                "encoder.layer.{i}.attention.self.value",
            ),
            **_linear("layers.{i}.attn.o", "encoder.layer.{i}.attention.output.dense"),
            **_norm("layers.{i}.norm1", "encoder.layer.{i}.attention.output.LayerNorm"),
            **_linear("layers.{i}.ffn.up", "encoder.layer.{i}.intermediate.dense"),
            **_linear("layers.{i}.ffn.down", "encoder.layer.{i}.output.dense"),
            **_norm("layers.{i}.norm2", "encoder.layer.{i}.output.LayerNorm"),
        },
        spellings=((r"^bert\.", ""), (r"\.gamma$", ".weight"), (r"\.beta$", ".bias")),
        ignored=r"pooler\.|cls\.|embeddings\.position_ids$",
    ),
    "tutorial-a": Scheme(
        {
            "embed.tokens.weight": ("embedding.embedding.weight",),
            **_linear(
                "layers.{i}.attn.qkv",
                "encoder.layers.{i}.self_attention_block.w_q",
                "encoder.layers.{i}.self_attention_block.w_k",
                "encoder.layers.{i}.self_attention_block.w_v",
            ),
            **_linear("layers.{i}.attn.o", "encoder.layers.{i}.self_attention_block.w_o"),
            **_norm("layers.{i}.norm1", "encoder.layers.{i}.residual_connections.0.norm", gain="alpha"),
            **_linear("layers.{i}.ffn.up", "encoder.layers.{i}.feed_forward_block.linear_1"),
            **_linear("layers.{i}.ffn.down", "encoder.layers.{i}.feed_forward_block.linear_2"),
            **_norm("layers.{i}.norm2", "encoder.layers.{i}.residual_connections.1.norm", gain="alpha"),
            **_norm("final_norm", "encoder.norm", gain="alpha"),
        }
    ),
    "tutorial-b": Scheme(
        {
            **_linear(
                "layers.{i}.attn.qkv",
                "layers.{i}.attention.query",
                "layers.{i}.attention.key",
                "layers.{i}.attention.value",
            ),
            **_linear("layers.{i}.attn.o", "layers.{i}.attention.fc_out"),
            **_norm("layers.{i}.norm1", "layers.{i}.norm1"),
            **_linear("layers.{i}.ffn.up", "layers.{i}.feed_forward.0"),
            **_linear("layers.{i}.ffn.down", "layers.{i}.feed_forward.2"),
            **_norm("layers.{i}.norm2", "layers.{i}.norm2"),
        }
    ),
    "tutorial-c": Scheme(
        {
            **_linear("layers.{i}.attn.qkv", "encoder.layers.{i}.attention.qkv_layer"),
            **_linear("layers.{i}.attn.o", "encoder.layers.{i}.attention.linear_layer"),
            **_norm("layers.{i}.norm1", "encoder.layers.{i}.norm1", "gamma", "beta"),
            **_linear("layers.{i}.ffn.up", "encoder.layers.{i}.ffn.linear1"),
            **_linear("layers.{i}.ffn.down", "encoder.layers.{i}.ffn.linear2"),
            **_norm("layers.{i}.norm2", "encoder.layers.{i}.norm2", "gamma", "beta"),
        },
        head_by_head=True,
    ),
    "tutorial-d": Scheme(
        {
            "embed.tokens.weight": ("embedding.weight",),
            **_linear(
                "layers.{i}.attn.qkv",
                "encoder.layers.{i}.attention.W_Q",
                "encoder.layers.{i}.attention.W_K",
                "encoder.layers.{i}.attention.W_V",
            ),
            **_linear("layers.{i}.attn.o", "encoder.layers.{i}.attention.W_O"),
            **_norm("layers.{i}.norm1", "encoder.layers.{i}.norm1"),
            **_linear("layers.{i}.ffn.up", "encoder.layers.{i}.feed_forward.linear1"),
            **_linear("layers.{i}.ffn.down", "encoder.layers.{i}.feed_forward.linear2"),
            **_norm("layers.{i}.norm2", "encoder.layers.{i}.norm2"),
            **_norm("final_norm", "encoder.norm"),
        },
        position_table="pos_encoding.pe",
    ),
    "tutorial-e": Scheme(
        {
            "encoder.embed.tokens.weight": ("encoder_embedding.weight",),
            "decoder.embed.tokens.weight": ("decoder_embedding.weight",),
            **_torch_layer("encoder.layers.{i}", "encoder_layers.{i}", {"attn": "self_attn"}),
            **_torch_layer(
                "decoder.layers.{i}",
                "decoder_layers.{i}",
                {"self_attn": "self_attn", "cross_attn": "multihead_attn"},
            ),
            **_linear("fc", "fc"),
        }
    ),
    # an Encoder's own state dict, with separate projections or the fused one
    "playground": Scheme(_own("layers.{i}.attn.q", "layers.{i}.attn.k", "layers.{i}.attn.v")),
    "playground-fused": Scheme(_own("layers.{i}.attn.qkv"), head_by_head=True),
}
"""The naming schemes that `load_weights` reads."""
