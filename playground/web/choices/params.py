"""Every query parameter, which is the key of one widget: its frozen default and how its text is read."""

from collections.abc import Mapping

from playground.analysis.gradient_reading import PARTS as GRADIENT_PARTS
from playground.analysis.walkthrough import STAGES
from playground.config import CHOICES
from playground.limits import MAX_SENTENCES, MAX_TOKENS
from playground.presets import PRESETS
from playground.text.builders import MAX_BPE_VOCABULARY, MIN_BPE_VOCABULARY
from playground.web.choices.experiment_params import ABLATION, TRAINING
from playground.web.choices.kinds import Choice, Param, Size, Switch, Text, Whole

DEFAULT_TEXT = "The animal didn't cross the street because it was too tired."
DEFAULT_TARGET = "Het dier was te moe.\nDaarom stak het de straat niet over."
"""What a translator would have made of the default text, in Dutch; of two lengths, so that the shorter is padded."""

TRAINED = PRESETS["minilm-l6"].config

N_HEADS = (*range(1, 17), 20, 24, 25, 32, 48, 64, 96)

ARCHITECTURE: dict[str, Param] = {
    "d_model": Size(
        TRAINED.d_model,
        (8, 15, 16, 24, 32, 48, 64, 96, 128, 192, 256, 320, 384, 512, 640, 768, 1024, 1600, 2048, 4096, 12288),
        help_text="Width of the residual stream: how many numbers stand for one token.",
    ),
    "n_heads": Size(
        TRAINED.n_heads,
        N_HEADS,
        help_text="Attention heads. Each works on d_model / n_heads features, so n_heads must divide d_model.",
    ),
    "n_layers": Size(
        TRAINED.n_layers, (*range(1, 13), 16, 24, 32, 48, 96), help_text="Encoder blocks, one after the other."
    ),
    "d_ff": Size(
        TRAINED.d_ff,
        (8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6400, 8192, 16384, 49152),
        help_text="Hidden width of the feed-forward network; usually 4 × d_model.",
    ),
    "norm_placement": Choice(
        TRAINED.norm_placement,
        CHOICES["norm_placement"],
        help_text="post: norm(x + f(x)), as in the paper. pre: x + f(norm(x)), easier to train when deep.",
    ),
    "norm": Choice(
        TRAINED.norm,
        CHOICES["norm"],
        help_text="layer: gain and bias per feature. scalar: one of each for all (tutorial A). rms: no mean, no bias.",
    ),
    "norm_eps": Size(
        TRAINED.norm_eps,
        (1e-12, 1e-8, 1e-6, 1e-5, 1e-3, 1e-1),
        help_text="Added before dividing, so that nothing is divided by zero.",
    ),
    "final_norm": Switch(TRAINED.final_norm, help_text="One more norm after the last block."),
    "residual": Switch(TRAINED.residual, help_text="Add each sublayer's input to its output."),
    "activation": Choice(
        TRAINED.activation,
        CHOICES["activation"],
        help_text="Between the feed-forward network's two linear maps.",
    ),
    "positions": Choice(
        TRAINED.positions,
        CHOICES["positions"],
        help_text="How a token's place is told. sinusoidal-doubled is tutorial B's table, whose exponent counts twice.",
    ),
    "scale_embeddings": Switch(
        TRAINED.scale_embeddings, help_text="Multiply token embeddings by √d_model, as in the paper."
    ),
    "embedding_norm": Switch(TRAINED.embedding_norm, help_text="A norm on the summed embeddings, as in BERT."),
    "n_segments": Size(TRAINED.n_segments, (0, 1, 2), help_text="Rows of the segment table, as in BERT; 0 is none."),
    "fused_qkv": Switch(
        TRAINED.fused_qkv, help_text="One projection for Q, K and V, laid out head by head (tutorial C)."
    ),
    "head_merge": Choice(
        TRAINED.head_merge,
        CHOICES["head_merge"],
        help_text="reshape forgets to move the head axis back: tutorial C's mistake, it mixes positions.",
    ),
    "dropout": Size(
        TRAINED.dropout,
        (0.0, 0.1, 0.2, 0.3, 0.5),
        help_text="The share of numbers that a model zeroes while it learns. No page runs with it: step by step shows "
        "where it would act, and what trains here has rates of its own, among its regularisers.",
    ),
    "max_len": Size(
        TRAINED.max_len,
        (5, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 5000),
        help_text="Longest sentence in tokens: the number of rows in the position table.",
    ),
}
"""`ModelConfig`'s own fields, in the sidebar's order; the defaults are the checkpoint's."""

SIZES = {key: param for key, param in ARCHITECTURE.items() if isinstance(param, Size)}

SHARED: dict[str, Param] = {
    "text": Text(DEFAULT_TEXT, label="Your text, one sentence a line"),
    "sentence": Whole(1, 1, MAX_SENTENCES, label="Sentence to look at"),
    "weights": Choice(
        "minilm",
        ("minilm", "random", "mine", "trained here"),
        label="Weights",
        help_text="minilm: a trained encoder. random: drawn from the seed, in whatever shape you like. "
        "mine: a file that you have saved, of a tutorial's model or another encoder. "
        "trained here: what you have trained on the Training page.",
    ),
    "untrained": Switch(
        False,
        label="before training",
        help_text="The same architecture with the random weights of the same seed, which training began with.",
    ),
    "tokenizer": Choice(
        "wordpiece",
        ("wordpiece", "word", "char", "bpe"),
        help_text="How text is cut into tokens. wordpiece: the trained model's own. word: your text's own words. "
        "char: one a character. bpe: byte-level byte-pair encoding, trained on Python's help texts.",
    ),
    "vocab_size": Whole(2_000, MIN_BPE_VOCABULARY, MAX_BPE_VOCABULARY),
    **ARCHITECTURE,
    "causal": Switch(False, help_text="No token may look at later ones, as in a decoder."),
    "seed": Whole(
        0,
        0,
        2**31 - 1,
        label="Seed",
        help_text="Random weights are drawn from this number: the same seed gives the same weights everywhere. What "
        "was trained here keeps the one that it began with.",
    ),
}
"""The sidebar's parameters, the same on every page."""

MAX_DIMENSION = int(SIZES["d_model"].options[-1]) - 1

OWN: dict[str, Param] = {
    "overview_shapes": Switch(False),
    "overview_batch": Choice("this text", ("this text", "tutorial C: 30 × 200")),
    "attention_layer": Whole(3, 0, 95),
    "attention_head": Whole(1, 0, 95),
    "attention_query": Whole(10, 0, MAX_TOKENS - 1),
    "attention_show": Choice("one head", ("one head", "average of heads", "difference of two heads")),
    "attention_other": Whole(0, 0, 95),
    "attention_view": Choice("lines", ("lines", "ranking", "entropy", "rollout")),
    "attention_hide": Switch(False),
    "attention_stretch": Switch(False),
    "norms_view": Choice("tokens", ("tokens", "statistics", "cosines", "by hand")),
    "norms_part": Choice("residual", ("residual", "attention", "feed-forward")),
    "norms_layer": Whole(0, 0, 96),
    "norms_norm": Whole(0, 0, 193),
    "norms_token": Whole(0, 0, MAX_TOKENS - 1),
    "positions_view": Choice(
        "swap two words", ("swap two words", "this sentence", "curves", "similarity", "doubled exponent")
    ),
    "positions_first": Whole(2, 0, MAX_TOKENS - 1),
    "positions_second": Whole(8, 0, MAX_TOKENS - 1),
    "positions_curve_1": Whole(0, 0, MAX_DIMENSION),
    "positions_curve_2": Whole(10, 0, MAX_DIMENSION),
    "positions_curve_3": Whole(100, 0, MAX_DIMENSION),
    "positions_measure": Choice("dot product", ("dot product", "distance")),
    "step_path": Choice("as the data moves", ("as the data moves", "as tutorial B")),
    "step_stage": Choice("embedding", STAGES),
    "step_layer": Whole(0, 0, 95),
    "step_head": Whole(0, 0, 95),
    "step_query": Whole(10, 0, MAX_TOKENS - 1),
    "step_key": Whole(2, 0, MAX_TOKENS - 1),
    "step_dropout": Switch(False),
    "gradient_layers": Whole(12, 1, 48),
    "gradient_scale": Size(1.0, (0.25, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0)),
    "gradient_of": Choice("whole layer", GRADIENT_PARTS),
    "gradient_view": Choice("chain rule", ("chain rule", "depth sweep")),
    "parameters_model": Choice("sidebar", ("sidebar", *PRESETS)),
    "parameters_view": Choice("components", ("components", "treemap", "layers")),
    "tutorials_against": Choice("E", ("A", "B", "C", "D", "E")),
    "tutorials_letter": Choice("A", ("A", "B", "C", "D", "E")),
    "encdec_target": Text(DEFAULT_TARGET, longest=500),
    "encdec_attention": Choice("cross", ("encoder self", "decoder self", "cross")),
    "encdec_layer": Whole(0, 0, 95),
    "encdec_head": Whole(0, 0, 95),
    "encdec_position": Whole(0, 0, MAX_TOKENS - 1),
    **TRAINING,
    **ABLATION,
}
"""The pages' own parameters; each starts with its page."""

PARAMS = {**SHARED, **OWN}

LOCKED = ("tokenizer", *ARCHITECTURE)
"""What the trained weights decide."""

_PREFIXES = {"": "overview", "step-by-step": "step", "encoder-decoder": "encdec", "gradient-flow": "gradient"}
"""How a page's parameters start, where that is not the page's path."""


def page_parameters(page: str) -> list[str]:
    """The keys of one page's own parameters, by its path."""
    return [key for key in OWN if key.startswith(f"{_PREFIXES.get(page, page)}_")]


def write(value: object) -> str:
    """Turn a value into the text that its widget puts into the link."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def write_all(value: object) -> list[str]:
    """The same for every kind of parameter: several words are a text each, none of them is an empty text."""
    return [write(word) for word in value] or [""] if isinstance(value, list | tuple) else [write(value)]


def write_changed(values: Mapping[str, object]) -> dict[str, list[str]]:
    """The texts of those parameters that are not at their defaults."""
    texts = {key: write_all(value) for key, value in values.items()}
    return {key: text for key, text in texts.items() if text != write_all(PARAMS[key].default)}
