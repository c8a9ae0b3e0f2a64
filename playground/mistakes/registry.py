"""The mistakes: what each does, how it shows, what cannot show it, and the lines that mend it.

To add one: a `Mistake` here, and in `tests/mistakes/` its line in the independent pass.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from playground.config import ModelConfig
from playground.mistakes.edits import (
    Making,
    Scores,
    change_attention,
    change_blocks,
    change_embeddings,
    change_feed_forward,
    change_norms,
    copy_module,
    device_of,
)
from playground.model import Encoder
from playground.model.attention import Attention
from playground.model.blocks import EncoderBlock, Transform
from playground.model.encoder_decoder import EncoderDecoder
from playground.model.norms import LayerNorm, scale
from playground.model.positions import sinusoids
from playground.model.trace import UNTRACED, Trace

Applies = Callable[[ModelConfig, Tensor | None], bool]
"""Whether a model of this config can make it in a pass with this mask."""


@dataclass(frozen=True)
class Mistake:
    """One mistake, in every layer where it can be made."""

    key: str
    title: str
    """What was done, in a few words."""
    meaning: str
    """What that means, in a sentence, for whoever has not met it."""
    source: str
    """Who makes it."""
    part: str
    """The part of the code that it is in; of one part there is one mistake at a time."""
    shows: str
    """The first tensor that is wrong, by a part of its name in a trace; in post-norm where it depends on that."""
    symptom: str
    """What its maker sees."""
    test: str
    """The cheapest test that finds it."""
    hidden_from: str
    """What cannot show it."""
    wrong: str
    right: str
    """The lines, wrong and right."""
    making: Making
    """How the model's own pass makes it; of a decoder's: see `decoder`."""
    applies: Applies = lambda config, mask: True
    decoder: Callable[[EncoderDecoder], EncoderDecoder] | None = None
    """How a decoder makes it, where it is none of an encoder's."""


# --- how each is made


def _unscaled(encoder: Encoder) -> Encoder:
    return change_embeddings(encoder, config=replace(encoder.config, scale_embeddings=False))


def _place(table: Callable[[int, int], Tensor]) -> Callable[[Encoder], Encoder]:
    """The encoder with another position table: (n_tokens, d_model) → rows."""

    def change(encoder: Encoder) -> Encoder:
        device, width = device_of(encoder), encoder.config.embedding_width
        return change_embeddings(encoder, position_vectors=lambda n, _=None: table(n, width).to(device))

    return change


def _split_straight(attention: Attention) -> Mapping[str, Any]:
    def heads(x: Tensor, width: int = 0) -> Tensor:
        B, T, _ = x.shape  # noqa: N806
        return x.reshape(B, -1, T, width or attention.d_head)

    return {"heads": heads}


def _merge_straight(_: Attention) -> Mapping[str, Any]:
    return {"head_merge": "reshape"}


def _swap_query_and_key(scores: Scores) -> None:
    scores.product = scores.product.transpose(-2, -1)


def _scale(factor: Callable[[Scores], float]) -> Callable[[Scores], None]:
    def edit(scores: Scores) -> None:
        scores.product = scores.product * factor(scores)

    return edit


def _sum_over_queries(scores: Scores) -> None:
    scores.axis = -2


def _show_all(scores: Scores) -> None:
    scores.allowed = torch.ones_like(scores.allowed)


def _invert_mask(scores: Scores) -> None:
    scores.allowed = ~scores.allowed


def _mask_afterwards(scores: Scores) -> None:
    scores.kept = scores.allowed
    _show_all(scores)


def _mask_rows(scores: Scores) -> None:
    """Hide padded tokens as queries instead of keys; what else is hidden stays."""
    padded = ~scores.allowed.any(dim=-2, keepdim=True)  # (B, H, 1, T)
    T = scores.allowed.shape[-1]  # noqa: N806
    visible = (scores.allowed | padded).tril().eq(torch.ones_like(scores.allowed).tril())
    looks_back = bool(visible.all()) and not bool(scores.allowed.triu(1).any())
    base = torch.ones_like(scores.allowed).tril() if looks_back and T > 1 else torch.ones_like(scores.allowed)
    scores.allowed = base & ~padded.transpose(-2, -1)


def _look_one_ahead(scores: Scores) -> None:
    padded = ~scores.allowed.any(dim=-2, keepdim=True)
    scores.allowed = torch.ones_like(scores.allowed).tril(1) & ~padded


def _norm(forward: Callable[[LayerNorm, Tensor], Tensor]) -> Callable[[nn.Module], nn.Module]:
    """The norm with another way to normalise, where it is a LayerNorm."""

    def change(norm: nn.Module) -> nn.Module:
        if not isinstance(norm, LayerNorm):
            return norm

        def normalise(x: Tensor, trace: Trace = UNTRACED) -> Tensor:
            normalized = trace.record("normalized", forward(norm, trace.record("in", x)))
            return trace.record("out", scale(normalized, norm.gain, norm.bias))

        return copy_module(norm, forward=normalise)

    return change


def _unbiased(norm: LayerNorm, x: Tensor) -> Tensor:
    variance, mean = torch.var_mean(x, dim=-1, correction=1, keepdim=True)
    return (x - mean) / torch.sqrt(variance + norm.eps)


def _eps_outside(norm: LayerNorm, x: Tensor) -> Tensor:
    variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    return (x - mean) / (torch.sqrt(variance) + norm.eps)


def _swap_norm_order(block: EncoderBlock) -> nn.Module:
    return copy_module(block, post_norm=not block.post_norm)


def _forget_residual(block: EncoderBlock) -> nn.Module:
    return copy_module(block, residual=False)


def _add_normed(block: EncoderBlock) -> nn.Module:
    def connect(x: Tensor, f: Transform, norm: Transform, note: Transform) -> Tensor:
        normed = norm(x)
        return note(normed + f(normed))

    return copy_module(block, connect=connect)


def _share_first_layer(encoder: Encoder) -> Encoder:
    twin = copy_module(encoder, layers=nn.ModuleList([encoder.layers[0]] * len(encoder.layers)))
    assert isinstance(twin, Encoder)  # noqa: S101
    return twin


def _attend_to_target(model: EncoderDecoder) -> EncoderDecoder:
    """The decoder whose cross-attention reads the target instead of the encoder's output."""

    def change(block: nn.Module) -> nn.Module:
        cross = block.cross_attn
        assert isinstance(cross, Attention)  # noqa: S101

        def forward(x: Tensor, mask: Any = None, trace: Trace = UNTRACED, memory: Tensor | None = None) -> Tensor:
            return Attention.forward(cross, x, trace=trace)

        return copy_module(block, cross_attn=copy_module(cross, forward=forward))

    decoder = copy_module(model.decoder, layers=nn.ModuleList(map(change, model.decoder.layers)))
    twin = copy_module(model, decoder=decoder)
    assert isinstance(twin, EncoderDecoder)  # noqa: S101
    return twin


# --- where each can be made


def _has_mask(_: ModelConfig, mask: Tensor | None) -> bool:
    return mask is not None and not bool(mask.all())


def _has_padding(_: ModelConfig, mask: Tensor | None) -> bool:
    return mask is not None and not bool((mask if mask.ndim == 2 else mask.any(dim=-2)).all())


def _hides_what_lies_ahead(_: ModelConfig, mask: Tensor | None) -> bool:
    return mask is not None and mask.ndim == 3 and mask.shape[-1] > 1 and not bool(mask.triu(1).any())


def _adds_positions(config: ModelConfig, _: Tensor | None) -> bool:
    return config.has_position_table


def _is_layer_norm(config: ModelConfig, _: Tensor | None) -> bool:
    return config.norm == "layer"


_ALL = (
    Mistake(
        "no-embedding-scale",
        "token vectors are not scaled",
        "A token's vector is not multiplied by √d_model before its position is added.",
        "often; the paper has it in section 3.4 alone",
        "embedding",
        "embed.tokens",
        "At the start of training, vectors say more about positions than about words.",
        "Compare the length of a token's vector with that of a position's.",
        "Shapes; the training loss, which falls all the same.",
        "x = embedding(ids)",
        "x = embedding(ids) * math.sqrt(d_model)",
        Making(_unscaled),
        lambda config, mask: config.scale_embeddings and config.vocab_size > 0,
    ),
    Mistake(
        "positions-not-added",
        "positions are computed and not added",
        "The table of positions is there, but the sum with the tokens' vectors is not used.",
        "often: the module returns the table instead of the sum",
        "positions",
        "embed.sum",
        "A word enters the first layer with the same vector wherever it stands.",
        "Compare what enters the first layer for a word that stands twice: without positions both are the same.",
        "Shapes; a task that needs no order.",
        "positions(x)\nreturn x",
        "return x + positions(x)",
        Making(_place(lambda n, d: torch.zeros(n, d))),
        _adds_positions,
    ),
    Mistake(
        "doubled-exponent",
        "the exponent counts i twice",
        "The waves of the position table get longer twice as fast as they should.",
        "tutorial B · Encoder Block",
        "positions",
        "embed.sum",
        "Nothing fails; far positions are told apart by fewer columns.",
        "Print the wavelengths: from one pair to the next they grow by 10000^(4/d), not 10000^(2/d).",
        "Shapes; the loss; the first columns, which are the same.",
        "for i in range(0, d, 2): angle = pos / 10000 ** (2 * i / d)",
        "for i in range(0, d, 2): angle = pos / 10000 ** (i / d)",
        Making(_place(lambda n, d: sinusoids(n, d, doubled=True))),
        lambda config, mask: config.positions == "sinusoidal",
    ),
    Mistake(
        "integer-positions",
        "the position itself is added to every number",
        "Word 5 gets 5 added to each of its numbers, not a row of waves.",
        "often, as the first idea",
        "positions",
        "embed.sum",
        "Vectors grow with the position, and norms take most of it away.",
        "Look at one column of what was added: it climbs in steps of 1.",
        "Shapes; short sentences.",
        "x = x + torch.arange(T)[:, None]",
        "x = x + table[:T]",
        Making(_place(lambda n, d: torch.arange(n, dtype=torch.float32)[:, None].expand(n, d))),
        _adds_positions,
    ),
    Mistake(
        "split-without-transpose",
        "heads are cut without a transpose",
        "A head should get its share of each token's numbers; numbers are cut in the order of memory.",
        "a frequent mistake",
        "split",
        "attn.q",
        "A head sees pieces of several tokens as one.",
        "Change one token: the queries of other positions must not move.",
        "Shapes, which are right; the loss, which falls.",
        "q = q.view(B, H, T, d_head)",
        "q = q.view(B, T, H, d_head).transpose(1, 2)",
        Making(lambda encoder: change_attention(encoder, _split_straight)),
        lambda config, mask: config.n_heads > 1,
    ),
    Mistake(
        "merge-without-transpose",
        "heads are joined without a transpose",
        "The heads' results should stand side by side for each token; they are read in the order of memory.",
        "tutorial C · Explanation",
        "merge",
        "attn.out",
        "Positions leak into each other, even through a causal mask.",
        "Change the last token under a causal mask: outputs before it must not move.",
        "Shapes, which are right; the loss, which falls.",
        "z = z.reshape(B, T, d_model)",
        "z = z.transpose(1, 2).reshape(B, T, d_model)",
        Making(lambda encoder: change_attention(encoder, _merge_straight)),
        lambda config, mask: config.n_heads > 1 and config.head_merge == "transpose",
    ),
    Mistake(
        "query-key-swapped",
        "queries and keys are exchanged",
        "The score of a query and a key stands at the place of the key and the query.",
        "a frequent mistake",
        "product",
        "attn.scores",
        "Each row holds what should stand in a column.",
        "Compare the scores with their transpose.",
        "Shapes; the loss: training learns the other way round.",
        "scores = k @ q.transpose(-2, -1)",
        "scores = q @ k.transpose(-2, -1)",
        Making(scores=_swap_query_and_key),
    ),
    Mistake(
        "no-score-scale",
        "scores are not divided by √d_head",
        "The products of queries and keys go into the softmax as they are.",
        "often; tutorial texts name it and code forgets it",
        "scale",
        "attn.scores",
        "The softmax is sharper, the more so the wider a head is.",
        "Compare the deviation of the scores: it is √d_head times too large.",
        "Shapes; small heads.",
        "scores = q @ k.transpose(-2, -1)",
        "scores = q @ k.transpose(-2, -1) / math.sqrt(d_head)",
        Making(scores=_scale(lambda scores: math.sqrt(scores.d_head))),
        lambda config, mask: config.head_width > 1,
    ),
    Mistake(
        "scale-by-d-model",
        "scores are divided by √d_model",
        "The divisor is made of the model's width, not of one head's.",
        "often, where d_k is taken for d_model",
        "scale",
        "attn.scores",
        "The softmax is flatter, the more so the more heads there are.",
        "Compare the deviation of the scores: it is √n_heads times too small.",
        "Shapes; a single head, for which both are the same.",
        "scores = q @ k.transpose(-2, -1) / math.sqrt(d_model)",
        "scores = q @ k.transpose(-2, -1) / math.sqrt(d_head)",
        Making(scores=_scale(lambda scores: math.sqrt(scores.d_head / scores.d_model))),
        lambda config, mask: config.n_heads > 1,
    ),
    Mistake(
        "softmax-over-queries",
        "the softmax adds up over queries",
        "The softmax runs along the wrong axis of the scores.",
        "often: a wrong dim",
        "softmax",
        "attn.pattern",
        "Columns add up to 1 instead of rows.",
        "Add up a row of the weights.",
        "Shapes; the loss.",
        "pattern = scores.softmax(dim=-2)",
        "pattern = scores.softmax(dim=-1)",
        Making(scores=_sum_over_queries),
    ),
    Mistake(
        "mask-forgotten",
        "the mask is not handed on",
        "The mask says who may look at whom; it never reaches attention.",
        "tutorial C · Explanation: the block passes mask=None always",
        "mask",
        "attn.scores",
        "A token looks at padding, or at what comes after it.",
        "Change a hidden token: nothing may move.",
        "Shapes; a single sentence without padding.",
        "out = attention(x, mask=None)",
        "out = attention(x, mask=mask)",
        Making(scores=_show_all),
        _has_mask,
    ),
    Mistake(
        "mask-inverted",
        "the mask hides what it should show",
        "“May look” and “may not look” are exchanged.",
        "often: True means hidden in one library and shown in another",
        "mask",
        "attn.scores",
        "Tokens attend to padding alone, or to what lies ahead alone.",
        "Look at the weights of hidden keys: they are to be 0.",
        "Shapes.",
        "scores = scores.masked_fill(mask, -math.inf)",
        "scores = scores.masked_fill(~mask, -math.inf)",
        Making(scores=_invert_mask),
        _has_mask,
    ),
    Mistake(
        "mask-after-softmax",
        "weights are masked after the softmax",
        "Hidden weights become 0 only after all of them were made to add up to 1.",
        "a frequent mistake",
        "mask",
        "attn.scores",
        "Rows add up to less than 1.",
        "Add up a row of the weights beside a hidden key.",
        "Shapes; the loss.",
        "pattern = scores.softmax(-1).masked_fill(~mask, 0)",
        "pattern = scores.masked_fill(~mask, -math.inf).softmax(-1)",
        Making(scores=_mask_afterwards),
        _has_mask,
    ),
    Mistake(
        "masked-query-rows",
        "padding is masked as queries, not as keys",
        "The mask hides the rows of padding instead of its columns.",
        "tutorial E · From Scratch",
        "mask",
        "attn.scores",
        "Padded rows are even, and padded keys are attended to.",
        "Change a padded token: nothing but its own row may move.",
        "Shapes; sentences without padding.",
        "mask = padding[:, None, :, None]",
        "mask = padding[:, None, None, :]",
        Making(scores=_mask_rows),
        _has_padding,
    ),
    Mistake(
        "no-peek-off-by-one",
        "each token sees one token ahead",
        "The causal mask begins one place too late.",
        "often: diagonal=1 on the wrong side",
        "mask",
        "attn.scores",
        "Learning to predict the next token is suddenly easy.",
        "Change the last token under a causal mask: the one before must not move.",
        "Shapes; the training loss, which looks better.",
        "mask = torch.ones(T, T).tril(1).bool()",
        "mask = torch.ones(T, T).tril().bool()",
        Making(scores=_look_one_ahead),
        _hides_what_lies_ahead,
    ),
    Mistake(
        "unbiased-variance",
        "the variance is divided by d − 1",
        "A norm divides the sum of d squares by d − 1, not by d.",
        "tutorial A · Implementing an Encoder, and every x.std() of PyTorch",
        "variance",
        "norm1.normalized",
        "Vectors are a little too short.",
        "Normalise one vector of two numbers by hand.",
        "Shapes; the loss; wide vectors, for which both are nearly the same.",
        "x = (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, keepdim=True) + eps)",
        "x = (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, correction=0, keepdim=True) + eps)",
        Making(lambda encoder: change_norms(encoder, _norm(_unbiased))),
        _is_layer_norm,
    ),
    Mistake(
        "eps-outside-root",
        "eps is added to the deviation",
        "A norm adds its small number eps behind the root, not under it.",
        "tutorial A · Implementing an Encoder",
        "variance",
        "norm1.normalized",
        "Nothing, unless eps is large.",
        "Normalise a vector whose numbers are nearly equal.",
        "Nearly everything: with a small eps both are the same to seven digits.",
        "x = (x - mean) / (std + eps)",
        "x = (x - mean) / torch.sqrt(variance + eps)",
        Making(lambda encoder: change_norms(encoder, _norm(_eps_outside))),
        _is_layer_norm,
    ),
    Mistake(
        "norm-order-swapped",
        "norms stand on the other side of the sublayers",
        "A norm stands before attention and feed-forward where it should stand behind them, or the other way round.",
        "often: a text says one order and its code has the other, as in tutorial D · Notebook 05",
        "residual",
        "attn.in",
        "Lengths grow through the layers where they should not, or do not where they should.",
        "Print the length of a token's vector after each layer.",
        "Shapes; the number of parameters; shallow models' loss.",
        "x = norm(x + f(x))",
        "x = x + f(norm(x))",
        Making(lambda encoder: change_blocks(encoder, _swap_norm_order)),
        lambda config, mask: config.norm != "none",
    ),
    Mistake(
        "residual-forgotten",
        "a sublayer's input is not added to its output",
        "Attention, or the feed-forward network, replaces what it reads instead of adding to it.",
        "a frequent mistake",
        "residual",
        "resid_mid",
        "Deep models do not learn.",
        "Set a sublayer's weights to 0: its input must come out.",
        "Shapes; shallow models.",
        "x = f(x)",
        "x = x + f(x)",
        Making(lambda encoder: change_blocks(encoder, _forget_residual)),
        lambda config, mask: config.residual,
    ),
    Mistake(
        "residual-from-normed",
        "the normed input is added instead of the input",
        "What attention adds to has gone through the norm already.",
        "often: x is overwritten",
        "residual",
        "resid_mid",
        "It is no pre-norm any more: lengths do not grow.",
        "Print the length of a token's vector after each layer.",
        "Shapes; the loss of shallow models.",
        "x = norm(x)\nx = x + f(x)",
        "x = x + f(norm(x))",
        Making(lambda encoder: change_blocks(encoder, _add_normed)),
        lambda config, mask: config.norm_placement == "pre" and config.norm != "none" and config.residual,
    ),
    Mistake(
        "activation-forgotten",
        "the feed-forward network has no activation",
        "Its two linear maps follow each other directly.",
        "often, in layers that are written by hand",
        "activation",
        "ffn.hidden",
        "The feed-forward network is one linear map.",
        "Look whether the hidden layer has a zero.",
        "Shapes; the loss, for a while.",
        "return down(up(x))",
        "return down(F.relu(up(x)))",
        Making(lambda encoder: change_feed_forward(encoder, lambda ffn: {"activation": lambda x: x})),
    ),
    Mistake(
        "relu-for-gelu",
        "ReLU and GELU are exchanged",
        "Where one of these two activations is meant, the other is computed.",
        "often: weights of the one are loaded into the other",
        "activation",
        "ffn.hidden",
        "Trained weights answer a little worse.",
        "Compare the hidden layer where its input is just below 0.",
        "Shapes; training from the start, for which either will do.",
        "hidden = F.relu(up(x))",
        "hidden = F.gelu(up(x))",
        Making(
            lambda encoder: change_feed_forward(
                encoder,
                lambda ffn: {"activation": F.gelu if encoder.config.activation == "relu" else F.relu},
            )
        ),
        lambda config, mask: config.activation in ("relu", "gelu"),
    ),
    Mistake(
        "dropout-left-on",
        "dropout is left on",
        "Random numbers are set to 0 outside training too.",
        "tutorial A · Implementing an Encoder, in its printed output",
        "dropout",
        "out",
        "The same input gives other numbers each time.",
        "Run it twice.",
        "Shapes; a single run.",
        "model(ids)",
        "model.eval()\nmodel(ids)",
        Making(drops=True),
    ),
    Mistake(
        "shared-layers",
        "all layers are one layer",
        "Each layer should have weights of its own.",
        "often: [block] * n copies the reference",
        "layers",
        "layers.1.",
        "The model has the parameters of one layer.",
        "Count the parameters.",
        "Shapes; a model of one layer; freshly copied layers.",
        "layers = nn.ModuleList([block] * n)",
        "layers = nn.ModuleList(Block() for _ in range(n))",
        Making(_share_first_layer),
        lambda config, mask: config.n_layers > 1,
    ),
    Mistake(
        "cross-attention-from-target",
        "cross-attention reads the target",
        "The decoder's attention to the source reads the target itself.",
        "the “self-attention” of tutorial B · Encoder Block, the other way round",
        "cross-attention",
        "cross_attn.k",
        "The translation does not depend on the source.",
        "Change the source: the scores must move.",
        "Shapes, where source and target are equally long; the loss of a small target language.",
        "x = x + cross(x, x, x)",
        "x = x + cross(x, memory, memory)",
        Making(),
        lambda config, mask: False,
        decoder=_attend_to_target,
    ),
)

MISTAKES: Mapping[str, Mistake] = MappingProxyType({mistake.key: mistake for mistake in _ALL})
"""By key, in the order of the computation."""
