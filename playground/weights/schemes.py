"""Who names a model's parameters how: a table, our name → theirs, for each naming scheme; whose names a file has."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from playground.errors import WeightsError

Names = dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Scheme:
    """How somebody else names a model's parameters; `{i}` stands for the layer."""

    names: Names
    """Our name → theirs. Queries, keys and values are our `attn.qkv`, one below the other; three foreign names hold one
    each."""

    other_names: Names = field(default_factory=dict)
    """The names in another object that the same code builds, such as the encoder alone: a file has one or the other."""

    head_by_head: bool = False
    """The foreign queries, keys and values lie (head, [q k v], d_head) in their one tensor, as in our fused models."""

    spellings: tuple[tuple[str, str], ...] = ()
    """Patterns in foreign names and what to put for them, where one tensor goes by several names."""

    ignored: str | None = None
    """Pattern of the foreign tensors that are no part of a model."""

    split: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Foreign parts of a name whose tensors hold several of ours, one below the other, and what to call each."""

    scores_undivided: bool = False
    """Their scores are not divided by √d_head: our queries are made larger by as much."""

    position_table: str | None = None
    """A foreign table (…, d_model), buffer or parameter; it may be missing. Sines and cosines are computed, not copied;
    a table that was trained is our learned positions."""


def _linear(ours: str, *theirs: str) -> Names:
    return {f"{ours}.{part}": tuple(f"{name}.{part}" for name in theirs) for part in ("weight", "bias")}


def _norm(ours: str, theirs: str, gain: str = "weight", bias: str = "bias") -> Names:
    return {f"{ours}.gain": (f"{theirs}.{gain}",), f"{ours}.bias": (f"{theirs}.{bias}",)}


def _block(
    theirs: str,
    *,
    qkv: tuple[str, ...],
    o: str,
    up: str,
    down: str,
    norms: tuple[str, str] = ("norm1", "norm2"),
    gain: str = "weight",
    bias: str = "bias",
) -> Names:
    """An encoder block's parameters; each part's foreign name begins with `theirs`."""
    names = _linear("layers.{i}.attn.qkv", *(f"{theirs}.{name}" for name in qkv))
    for part, name in {"attn.o": o, "ffn.up": up, "ffn.down": down}.items():
        names |= _linear(f"layers.{{i}}.{part}", f"{theirs}.{name}")
    for n, name in enumerate(norms, start=1):
        names |= _norm(f"layers.{{i}}.norm{n}", f"{theirs}.{name}", gain, bias)
    return names


def _inside(part: str, names: Names) -> Names:
    """The names in a part's own state dict, where `part` begins the whole's names; the rest is left out."""
    return {
        ours: tuple(name.removeprefix(part) for name in theirs)
        for ours, theirs in names.items()
        if all(name.startswith(part) for name in theirs)
    }


def _own(*qkv: str) -> Names:
    """Our names for an `Encoder`'s parameters, with queries, keys and values in one tensor or in three."""
    names: Names = {
        f"embed.{table}.weight": (f"embed.{table}.weight",) for table in ("tokens", "positions", "segments")
    }
    names |= _block("layers.{i}", qkv=qkv, o="attn.o", up="ffn.up", down="ffn.down", gain="gain")
    names |= _linear("layers.{i}.ffn.gate", "layers.{i}.ffn.gate") | _linear("embed.project", "embed.project")
    names["relative.weight"] = ("relative.weight",)
    for norm in ("attn.q_norm", "attn.k_norm", "post_norm1", "post_norm2"):
        names |= _norm(f"layers.{{i}}.{norm}", f"layers.{{i}}.{norm}", "gain")
    return names | _norm("embed.norm", "embed.norm", "gain") | _norm("final_norm", "final_norm", "gain")


def _torch_layer(ours: str, theirs: str, attentions: dict[str, str]) -> Names:
    """torch.nn.TransformerEncoderLayer, or TransformerDecoderLayer with its two attentions: our name → theirs."""
    names = _linear(f"{ours}.ffn.up", f"{theirs}.linear1") | _linear(f"{ours}.ffn.down", f"{theirs}.linear2")
    for attention, name in attentions.items():  # torch.nn.MultiheadAttention
        for part in ("weight", "bias"):
            names[f"{ours}.{attention}.qkv.{part}"] = (f"{theirs}.{name}.in_proj_{part}",)
        names |= _linear(f"{ours}.{attention}.o", f"{theirs}.{name}.out_proj")
    for n in range(1, len(attentions) + 2):
        names |= _norm(f"{ours}.norm{n}", f"{theirs}.norm{n}")
    return names


def _e_layer(ours: str, theirs: str, attentions: dict[str, str]) -> Names:
    """Tutorial E's own encoder or decoder layer: our name → theirs."""
    names = _linear(f"{ours}.ffn.up", f"{theirs}.feed_forward.linear_1")
    names |= _linear(f"{ours}.ffn.down", f"{theirs}.feed_forward.linear_2")
    for attention, name in attentions.items():
        names |= _linear(f"{ours}.{attention}.qkv", *(f"{theirs}.{name}.W_{letter}" for letter in "qkv"))
        names |= _linear(f"{ours}.{attention}.o", f"{theirs}.{name}.W_o")
    for n in range(1, len(attentions) + 2):
        names |= _norm(f"{ours}.norm{n}", f"{theirs}.norm{n}")
    return names


_BERT = {
    "embed.tokens.weight": ("embeddings.word_embeddings.weight",),
    "embed.positions.weight": ("embeddings.position_embeddings.weight",),
    "embed.segments.weight": ("embeddings.token_type_embeddings.weight",),
    **_norm("embed.norm", "embeddings.LayerNorm"),
    **_block(
        "encoder.layer.{i}",
        qkv=("attention.self.query", "attention.self.key", "attention.self.value"),
        o="attention.output.dense",
        up="intermediate.dense",
        down="output.dense",
        norms=("attention.output.LayerNorm", "output.LayerNorm"),
    ),
}

_DISTILBERT = {
    "embed.tokens.weight": ("embeddings.word_embeddings.weight",),
    "embed.positions.weight": ("embeddings.position_embeddings.weight",),
    **_norm("embed.norm", "embeddings.LayerNorm"),
    **_block(
        "transformer.layer.{i}",
        qkv=("attention.q_lin", "attention.k_lin", "attention.v_lin"),
        o="attention.out_lin",
        up="ffn.lin1",
        down="ffn.lin2",
        norms=("sa_layer_norm", "output_layer_norm"),
    ),
}

_ALBERT = {
    **{ours: theirs for ours, theirs in _BERT.items() if ours.startswith("embed.")},
    **_linear("embed.project", "encoder.embedding_hidden_mapping_in"),
    **_block(
        "encoder.albert_layer_groups.0.albert_layers.{i}",
        qkv=("attention.query", "attention.key", "attention.value"),
        o="attention.dense",
        up="ffn",
        down="ffn_output",
        norms=("attention.LayerNorm", "full_layer_layer_norm"),
    ),
}

_T5 = {
    "embed.tokens.weight": ("shared.weight",),
    "relative.weight": ("encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",),
    **_block(
        "encoder.block.{i}.layer",
        qkv=("0.SelfAttention.q", "0.SelfAttention.k", "0.SelfAttention.v"),
        o="0.SelfAttention.o",
        up="1.DenseReluDense.wi",
        down="1.DenseReluDense.wo",
        norms=("0.layer_norm", "1.layer_norm"),
    ),
    **_linear("layers.{i}.ffn.gate", "encoder.block.{i}.layer.1.DenseReluDense.wi_1"),
    **_norm("final_norm", "encoder.final_layer_norm"),
}

_MODERNBERT = {
    "embed.tokens.weight": ("embeddings.tok_embeddings.weight",),
    **_norm("embed.norm", "embeddings.norm"),
    **_block(
        "layers.{i}",
        qkv=("attn.Wqkv",),
        o="attn.Wo",
        up="mlp.Wi.up",
        down="mlp.Wo",
        norms=("attn_norm", "mlp_norm"),
    ),
    **_linear("layers.{i}.ffn.gate", "layers.{i}.mlp.Wi.gate"),
    **_norm("final_norm", "final_norm"),
}

_A = {
    "embed.tokens.weight": ("embedding.embedding.weight",),
    **_block(
        "encoder.layers.{i}",
        qkv=("self_attention_block.w_q", "self_attention_block.w_k", "self_attention_block.w_v"),
        o="self_attention_block.w_o",
        up="feed_forward_block.linear_1",
        down="feed_forward_block.linear_2",
        norms=("residual_connections.0.norm", "residual_connections.1.norm"),
        gain="alpha",
    ),
    **_norm("final_norm", "encoder.norm", gain="alpha"),
}

_B = _block(
    "layers.{i}",
    qkv=("attention.query", "attention.key", "attention.value"),
    o="attention.fc_out",
    up="feed_forward.0",
    down="feed_forward.2",
)

_C = _block(
    "encoder.layers.{i}",
    qkv=("attention.qkv_layer",),
    o="attention.linear_layer",
    up="ffn.linear1",
    down="ffn.linear2",
    gain="gamma",
    bias="beta",
)

_D = {
    "embed.tokens.weight": ("embedding.weight",),
    **_block(
        "encoder.layers.{i}",
        qkv=("attention.W_Q", "attention.W_K", "attention.W_V"),
        o="attention.W_O",
        up="feed_forward.linear1",
        down="feed_forward.linear2",
    ),
    **_norm("final_norm", "encoder.norm"),
}

_E = {
    "encoder.embed.tokens.weight": ("encoder_embedding.embedding.weight",),
    "decoder.embed.tokens.weight": ("decoder_embedding.embedding.weight",),
    **_e_layer("encoder.layers.{i}", "encoder_layers.{i}", {"attn": "self_attn"}),
    **_e_layer("decoder.layers.{i}", "decoder_layers.{i}", {"self_attn": "self_attn", "cross_attn": "cross_attn"}),
    **_linear("fc", "fc"),
}

_E_OF_TORCH = {
    "encoder.embed.tokens.weight": ("encoder_embedding.weight",),
    "decoder.embed.tokens.weight": ("decoder_embedding.weight",),
    **_torch_layer("encoder.layers.{i}", "encoder_layers.{i}", {"attn": "self_attn"}),
    **_torch_layer(
        "decoder.layers.{i}", "decoder_layers.{i}", {"self_attn": "self_attn", "cross_attn": "multihead_attn"}
    ),
    **_linear("fc", "fc"),
}
"""Tutorial E wired with torch.nn's layers, since its own code does not run as printed."""

_HEADS = (
    r"(?:pooler|cls|lm_head|classifier|pre_classifier|qa_outputs|predictions|sop_classifier|classification_head|head|score"
    r"|vocab_transform|vocab_layer_norm|vocab_projector|sequence_summary"
    r"|discriminator_predictions|generator_predictions|generator_lm_head)\.|embeddings\.position_ids$"
)
"""What Hugging Face's classes have beside the encoder, in any of the families."""

_TORCH_LAYERS = _torch_layer("layers.{i}", "layers.{i}", {"attn": "self_attn"}) | _norm("final_norm", "norm")

SCHEMES = {
    # torch.nn.TransformerEncoder's state dict, that of one layer, or of torch.nn.Transformer, whose decoder is left out
    "torch": Scheme(
        _TORCH_LAYERS,
        spellings=(
            (r"^(?:transformer_|transformer\.)?encoder\.(?=layers\.|norm\.)", ""),
            (r"^(?=(?:self_attn|linear1|linear2|norm1|norm2)\.)", "layers.0."),
        ),
        ignored=r"(?:transformer\.)?decoder\.",
    ),
    # the language model of PyTorch's own tutorial
    "torch-tutorial": Scheme(
        {"embed.tokens.weight": ("embedding.weight",)} | _TORCH_LAYERS,
        spellings=((r"^transformer_encoder\.", ""), (r"^encoder\.weight$", "embedding.weight")),
        ignored=r"(?:decoder|linear|src_mask)\b",
        position_table="pos_encoder.pe",
    ),
    # Hugging Face's BertModel; gamma and beta are how older checkpoints spell it
    "bert": Scheme(
        _BERT, spellings=((r"^bert\.", ""), (r"\.gamma$", ".weight"), (r"\.beta$", ".bias")), ignored=_HEADS
    ),
    # its relatives, as Hugging Face saves them, alone or with a head
    "roberta": Scheme(_BERT, spellings=((r"^roberta\.", ""),), ignored=_HEADS),
    "electra": Scheme(
        {**_BERT, **_linear("embed.project", "embeddings_project")}, spellings=((r"^electra\.", ""),), ignored=_HEADS
    ),
    "distilbert": Scheme(_DISTILBERT, spellings=((r"^distilbert\.", ""),), ignored=_HEADS),
    "albert": Scheme(_ALBERT, spellings=((r"^albert\.", ""),), ignored=_HEADS),
    "t5": Scheme(
        _T5,
        spellings=((r"^transformer\.", ""), (r"\.DenseReluDense\.wi_0\.", ".DenseReluDense.wi.")),
        ignored=rf"decoder\.|encoder\.embed_tokens\.|{_HEADS}",
        scores_undivided=True,
    ),
    "modernbert": Scheme(
        _MODERNBERT,
        spellings=((r"^model\.", ""),),
        ignored=rf"decoder\.|{_HEADS}",
        split={".mlp.Wi.": (".mlp.Wi.up.", ".mlp.Wi.gate.")},
    ),
    # the tutorials' whole models, or their encoder alone; of B the blocks, or one block
    "tutorial-a": Scheme(_A, _inside("encoder.", _A), position_table="pos_encoding.positional_encoding"),
    "tutorial-b": Scheme(_B, {ours.format(i=0): theirs for ours, theirs in _inside("layers.{i}.", _B).items()}),
    "tutorial-c": Scheme(_C, _inside("encoder.", _C), head_by_head=True),
    "tutorial-d": Scheme(_D, _inside("encoder.", _D), position_table="pos_encoding.pe"),
    "tutorial-e": Scheme(_E, _E_OF_TORCH, position_table="positional_encoding.positional_encoding"),
    # an Encoder's own state dict, with separate projections or the fused one
    "playground": Scheme(_own("attn.q", "attn.k", "attn.v")),
    "playground-fused": Scheme(_own("attn.qkv"), head_by_head=True),
}
"""The naming schemes that `load_weights` reads."""


T = TypeVar("T")

Shape = tuple[int, ...]


def respelled(named: Mapping[str, T], scheme: Scheme) -> dict[str, T]:
    """Tensors, or what there is to say of them, under the scheme's own spelling, without those that it ignores.

    Raises:
        WeightsError: two names are spellings of one.
    """
    given: dict[str, T] = {}
    for name, one in named.items():
        spelling = _respell(name, scheme)
        if spelling in given:
            raise WeightsError(f"{spelling} is there twice, in two spellings.")
        if scheme.ignored is None or not re.match(scheme.ignored, spelling):
            given[spelling] = one
    return given


def names_of_file(given: Iterable[str], scheme: Scheme) -> Names:
    """Our name → theirs in the object that a file is of, from its names in the scheme's spelling."""
    templates = {_template(name)[0] for name in given}
    return max((scheme.names, scheme.other_names), key=lambda names: _n_known(templates, names))


def scheme_of(header: Mapping[str, Shape]) -> str:
    """The scheme that knows the most of the names of tensors, given as name → shape.

    Raises:
        WeightsError: none knows any.
    """

    def n_known(scheme: Scheme) -> int:
        templates = [_template(_respell(name, scheme))[0] for name in header]
        return max(_n_known(templates, scheme.names), _n_known(templates, scheme.other_names))

    if any(name.endswith(".a_2") for name in header):
        raise WeightsError(
            "These are the names of the Annotated Transformer. Its norms divide by the unbiased standard deviation "
            "plus epsilon, with a gain per feature, which this encoder does not support."
        )
    best = max(SCHEMES, key=lambda name: n_known(SCHEMES[name]))
    if n_known(SCHEMES[best]) <= len(respelled(header, SCHEMES[best])) // 2:
        first = f", such as {next(iter(header))}," if header else ""
        raise WeightsError(
            f"These names{first} are of no model that is known here: the tutorials' encoders, "
            "torch.nn.TransformerEncoder, BERT, and the playground's own."
        )
    return best


def encoder_half(named: Mapping[str, T]) -> dict[str, T]:
    """Of a model that was trained here, with a head or a decoder, the encoder under its own names; all else as it is.

    No other scheme here has the first name that is looked for.
    """
    if "encoder.embed.tokens.weight" not in named:
        return dict(named)
    return {name.removeprefix("encoder."): one for name, one in named.items() if name.startswith("encoder.")}


def encoder_shapes(given: Mapping[str, Shape], names: Names) -> tuple[dict[str, Shape], int]:
    """Shapes by our name with `{i}`, of the first layer that has each, and how many layers there are."""
    shapes: dict[str, Shape] = {}
    layers = set()
    ours_of = {theirs: ours for ours, tensors in names.items() for theirs in tensors}
    half = encoder_prefix(names)
    for name, shape in given.items():
        template, layer = _template(name)
        ours = ours_of.get(template)
        if ours is not None and ours.startswith(half):
            ours, layer = _template(ours.removeprefix(half).format(i=layer))
            shapes.setdefault(ours, shape)
            layers.add(layer)
    return shapes, len(layers - {None})


def encoder_prefix(names: Iterable[str]) -> str:
    """How our names of an encoder's tensors begin: an encoder–decoder has two halves."""
    return "encoder." if any(ours.startswith("encoder.") for ours in names) else ""


def _respell(name: str, scheme: Scheme) -> str:
    name = re.sub(r"(?:^|(?<=\.))(?:module\.|_orig_mod\.)+", "", name)  # of DataParallel and torch.compile
    for pattern, spelling in scheme.spellings:
        name = re.sub(pattern, spelling, name)
    return name


def _template(name: str) -> tuple[str, int | None]:
    """A name with `{i}` for its layer, and the layer."""
    match = re.search(r"(?:layers?|block)\.([0-9]{1,9})\.", name)
    if match is None:
        return name, None
    return f"{name[: match.start(1)]}{{i}}{name[match.end(1) :]}", int(match[1])


def _n_known(templates: Collection[str], names: Names) -> int:
    known = {name for theirs in names.values() for name in theirs}
    return sum(template in known for template in templates)
