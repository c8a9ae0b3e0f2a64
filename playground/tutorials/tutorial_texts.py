"""What is told of a tutorial: its topics, and the mistakes found in it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from playground.tutorials import demonstrations as show

Settings = Mapping[str, bool | int | str]
"""Values of the link's parameters, by their keys."""


@dataclass(frozen=True)
class Topic:
    """Something that a tutorial teaches, and the page that shows it."""

    text: str
    page: str
    target: str | None = None
    """The part of the page that shows it, by its container's key, to which the page scrolls; None: the page's top."""
    settings: Settings = field(default_factory=dict)
    """What the page is opened with beside the tutorial's preset, by the link's keys."""


@dataclass(frozen=True)
class Mistake:
    """Something that a tutorial gets wrong."""

    where: str
    """The part of its code or text."""
    printed: str
    """What stands there."""
    happens: str
    """What comes of it."""
    demonstration: Callable[[], str] | None
    """Computes one sentence of evidence; None where there is nothing to compute."""
    keys: tuple[str, ...] = ()
    """The mistakes of the registry that it is, which say what its maker sees, how to find it, and the right lines."""


@dataclass(frozen=True)
class Tutorial:
    """One of the five; its architecture is the preset of its letter."""

    what: str
    topics: tuple[Topic, ...]
    mistakes: tuple[Mistake, ...]
    order_in_text: str = ""
    """What its text says of the order of norms and sublayers, where its code has another."""


_ODD_WIDTH = Mistake(
    "positions",
    "sines and cosines each go to every second column",
    "An odd d_model stops with an error about sizes.",
    show.odd_width,
)

_OWN_PAIR: Settings = {"encdec_source": "your text"}
"""The preset decides the shape of the visitor's own pair alone; the trained example has its own."""

_PADDED_PAIR: Settings = {
    **_OWN_PAIR,
    "text": "The animal was too tired.\nSo it did not cross the street.",
    "encdec_target": "Het dier was te moe.\nDaarom stak het de straat niet over.",
    "sentence": 1,
}
"""Sentences of two lengths, in a Dutch translation too: the shorter ones are padded, so that masks have to hide it."""

_DROPOUT: Settings = {"step_path": "as the data moves", "step_stage": "feed-forward", "step_dropout": True}
_BY_HAND: Settings = {"norms_view": "by hand", "norms_norm": 0}
_AROUND_NORMS: Settings = {"norms_view": "statistics"}

TUTORIALS: dict[str, Tutorial] = {
    "A": Tutorial(
        "An encoder, one component after another, and then a sentence of five words sent through it.",
        (
            Topic(
                "How “this is an example sentence” becomes a result of shape (1, 5, 512).",
                "overview",
                "overview_shapes",
                {"overview_shapes": True, "overview_batch": "this text"},
            ),
            Topic("Sinusoidal positions, computed once and added to every sentence.", "positions", "position_table"),
            Topic(
                "A norm with one gain α and one bias for all features, before attention and feed-forward alike.",
                "norms",
                "norm_by_hand",
                _BY_HAND,
            ),
            Topic("Where an encoder drops numbers while it learns.", "step-by-step", "step_drops", _DROPOUT),
        ),
        (
            Mistake(
                "text",
                "in one place a norm follows each sublayer, in its section on residual connections it comes first",
                "Its code normalises before each sublayer, and once more at the end.",
                show.pre_norm_called_post,
            ),
            Mistake(
                "output",
                "the numbers of a model in training mode",
                "",
                show.dropout_left_on,
                keys=("dropout-left-on",),
            ),
            Mistake(
                "norm",
                "one α and one bias for all features, unbiased deviation, eps added to the deviation",
                "It is not LayerNorm: outputs are scaled differently, and no feature has a weight of its own.",
                show.scalar_norm,
                keys=(
                    "unbiased-variance",
                    "eps-outside-root",
                ),
            ),
            _ODD_WIDTH,
            Mistake(
                "positions",
                "a table of exactly seq_len rows",
                "A longer sentence stops with an error about sizes.",
                show.longer_than_the_table,
            ),
        ),
        order_in_text="Its text puts a norm after each sublayer in one place, and before it in its section on residual "
        "connections.",
    ),
    "B": Tutorial(
        "A walk from one attention to a whole block, every stop with its own small input.",
        (
            Topic(
                "Attention, self-attention with its weights, then several heads, in that order.",
                "step-by-step",
                "step_computation",
                {"step_path": "as tutorial B", "step_stage": "dot products", "step_input": "the tutorial's"},
            ),
            Topic(
                "Positions, and what adding them does.",
                "positions",
                "addition_lengths",
                {"positions_view": "this sentence"},
            ),
            Topic(
                "The block: attention and feed-forward, each followed by add & norm.",
                "norms",
                "norm_statistics",
                _AROUND_NORMS,
            ),
        ),
        (
            Mistake(
                "positions",
                "10000^(2i/d_model), where i already counts 0, 2, 4 …",
                "Each frequency is the square of the standard one. From pair to pair, wavelengths grow by the squared "
                "factor. Nothing fails.",
                show.doubled_exponent,
                keys=("doubled-exponent",),
            ),
            Mistake(
                "self-attention",
                "queries, keys and values are three unrelated random tensors",
                "In self-attention all three come from the same tokens; in cross-attention, keys and values do.",
                show.unrelated_tensors,
            ),
        ),
    ),
    "C": Tutorial(
        "An encoder that prints the shape of every intermediate while 30 sentences of 200 tokens pass through it.",
        (
            Topic(
                "Every shape, in order, of its own batch of 30 × 200.",
                "overview",
                "overview_shapes",
                {"overview_shapes": True, "overview_batch": "tutorial C: 30 × 200"},
            ),
            Topic(
                "One projection for queries, keys and values, and where its rows end up.",
                "step-by-step",
                "step_computation",
                {"step_path": "as the data moves", "step_stage": "projections"},
            ),
            Topic(
                "Masking as a regulariser: with a causal mask, no token looks ahead.",
                "attention",
                "attention_pattern",
                {"causal": True, "attention_show": "one head"},
            ),
            Topic(
                "Layer normalisation by mean and deviation, as a regulariser.",
                "norms",
                "norm_statistics",
                _AROUND_NORMS,
            ),
            Topic("Dropout in the feed-forward and on residual connections.", "step-by-step", "step_drops", _DROPOUT),
            Topic(
                "Regularisers of training: weight decay, label smoothing, early stopping, gradient clipping, "
                "knowledge distillation, and, of five kinds of data augmentation, masking tokens.",
                "regularisers",
                "regularisers_chosen",
            ),
        ),
        (
            Mistake(
                "merging heads",
                "values (B, H, T, d_head) reshaped to (B, T, d_model) at once",
                "",
                show.leaking_merge,
                keys=("merge-without-transpose",),
            ),
            Mistake(
                "scores",
                "the mask is added, in numbers that its text leaves open",
                "A mask of 1 and 0 hides nothing.",
                show.mask_of_ones_and_zeros,
            ),
            Mistake(
                "encoder",
                "each block hands mask=None to its attention",
                "Attention alone can be masked; the encoder never is.",
                show.mask_never_arrives,
                keys=("mask-forgotten",),
            ),
            Mistake(
                "text",
                "there is dropout on the attention weights",
                "Its code has none there. It drops inside the feed-forward and after each sublayer.",
                show.no_dropout_on_weights,
            ),
        ),
    ),
    "D": Tutorial(
        "A notebook that builds a block, stacks it, and closes with exercises.",
        (
            Topic("LayerNorm by hand against the library's.", "norms", "norm_by_hand", _BY_HAND),
            Topic("The table of positions as a picture.", "positions", "position_table"),
            Topic(
                "Parameters by layer.",
                "parameters",
                "parameter_breakdown",
                {"parameters_model": "sidebar", "parameters_view": "layers"},
            ),
            Topic(
                "Exercise 1: the share of each component.",
                "parameters",
                "parameter_breakdown",
                {"parameters_model": "sidebar", "parameters_view": "components"},
            ),
            Topic(
                "Exercise 2: a decoder block that looks at itself and at the encoder.",
                "encoder-decoder",
                "encdec_pattern",
                {**_OWN_PAIR, "encdec_attention": "decoder self"},
            ),
            Topic(
                "Exercise 3: gradients with and without residual connections and norms.",
                "gradient-flow",
                "gradient_by_layer",
                {"gradient_of": "whole layer"},
            ),
            Topic(
                "Its next step: learning from real text, letter by letter, and writing more of it.",
                "training",
                settings={"training_task": "Next character"},
            ),
        ),
        (
            Mistake(
                "text",
                "“we used pre-norm”",
                "The block is post-norm. The norm after the last block gets vectors that are normalised already.",
                show.post_norm_called_pre,
            ),
            Mistake(
                "text",
                "“attention is permutation invariant”",
                "It is *equivariant*: outputs move along with their tokens.",
                show.permuted_tokens,
            ),
            Mistake(
                "text",
                "after LayerNorm, a deviation that “(should be ~1)”",
                "It is a little more: the printed deviation divides by d_model − 1, the norm's own by d_model.",
                show.unbiased_deviation,
            ),
            Mistake(
                "text",
                "its six layers are “like BERT-base”",
                "BERT base has twice as many, and is wider.",
                show.layers_of_bert,
            ),
            _ODD_WIDTH,
        ),
        order_in_text="Its text says pre-norm: a norm before each sublayer.",
    ),
    "E": Tutorial(
        "A whole transformer from scratch: an encoder, a decoder beside it, and scores for the next word.",
        (
            Topic(
                "Source padding, target padding and causal masks, and how they combine.",
                "encoder-decoder",
                "encdec_masks",
                {**_PADDED_PAIR, "encdec_show_masks": True},
            ),
            Topic(
                "Cross-attention: the target's tokens look at the source's.",
                "encoder-decoder",
                "encdec_pattern",
                {**_OWN_PAIR, "encdec_attention": "cross"},
            ),
            Topic(
                "From the last vectors to a score for every word.", "encoder-decoder", "encdec_next_tokens", _OWN_PAIR
            ),
            Topic("Its encoder half is the paper's: post-norm, ReLU, sinusoids.", "overview", "data_flow"),
        ),
        (
            Mistake(
                "embedding",
                "calls the dimension, a whole number, instead of the table",
                "TypeError.",
                show.called_a_number,
            ),
            Mistake(
                "embedding",
                "is handed (vocabulary, dimension), but takes (dimension, vocabulary)",
                "The table is built the wrong way round; most words have no row.",
                show.swapped_arguments,
            ),
            Mistake(
                "positions",
                "torch.log of a float; its constructor is called with one argument too few",
                "TypeError, twice.",
                show.logarithm_of_a_float,
            ),
            Mistake(
                "positions",
                "the exponential of the range is taken before it is scaled",
                "Frequencies overflow instead of falling.",
                show.exponent_before_scaling,
            ),
            Mistake(
                "positions",
                "reads self.pe, but the table is called positional_encoding",
                "AttributeError.",
                show.another_name,
            ),
            Mistake(
                "positions",
                "ends with requires_grad(False)",
                "That is no method: it calls True or False. requires_grad_ has the underscore.",
                show.called_a_flag,
            ),
            Mistake(
                "norm",
                "leaves out the superclass's constructor, builds a norm from the input, gets d_model as eps",
                "Its constructor succeeds. The first call fails with an AttributeError.",
                show.without_superclass,
            ),
            Mistake(
                "feed-forward",
                "builds a ReLU from the input instead of applying one",
                "TypeError in dropout, which gets a module instead of a tensor.",
                show.built_instead_of_applied,
            ),
            Mistake(
                "blocks",
                "super() names another class, d_model is undefined, the feed-forward's class does not exist",
                "NameError.",
                None,
            ),
            Mistake(
                "target mask",
                "padding masks rows, the queries, instead of columns, the keys",
                "Padded queries attend evenly to everything, later tokens too. Padded keys stay visible to later "
                "tokens.",
                show.queries_masked_for_keys,
                keys=("masked-query-rows",),
            ),
        ),
    ),
}
"""By letter."""
