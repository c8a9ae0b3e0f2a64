"""Every query parameter, by its key in the session: its frozen default and how its text is read."""

from collections.abc import Mapping
from typing import Any

from playground.analysis.walkthrough import STAGES
from playground.config import CHOICES, SETTINGS, Setting
from playground.limits import MAX_LISTED, MAX_SENTENCES, MAX_TOKENS
from playground.link import english
from playground.link.changes import Changes, read_changes
from playground.link.kinds import Choice, Notation, Param, Reading, Several, Size, Switch, Text, Whole
from playground.mistakes.bug_lab import LEVELS, MAX_SEED, SUSPECTS, TESTS
from playground.pages import LADDER, page_at
from playground.presets import PRESETS
from playground.text.tokenizer import MAX_BPE_VOCABULARY, MIN_BPE_VOCABULARY
from playground.text.wording import quote_text
from playground.training.recipe import Recipe
from playground.training.tasks import TASKS
from playground.training.trained_network import key_in
from playground.training.variants import REGULARISERS
from playground.tutorials import LONG_TITLES, SHORT_TITLES, TITLES

TASK_TITLES: dict[str, str] = {task.title: name for name, task in TASKS.items()}
"""A task's title, which is its word in the link → its name."""

_DROPOUT = Size(0.0, (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6))

STRENGTHS: dict[str, Param] = {
    "dropout_attention": _DROPOUT,
    "causal": Switch(True),
    "weight_decay": Size(0.0, (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)),
    "layer_norm": Switch(True),
    "label_smoothing": Size(0.0, (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)),
    "patience": Whole(0, 0, 20),
    "token_masking": Size(0.0, (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)),
    "clip": Size(0.0, (0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0)),
    "distill": Size(0.0, (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)),
    "dropout_residual": _DROPOUT,
    "temperature": Size(2.0, (0.5, 1.0, 2.0, 3.0, 5.0, 10.0)),
}
"""How strong each regulariser may be, by the recipe's field; off, or as a transformer has it, by default."""

_OPTIMIZER = {
    "label": "optimiser · `optimizer`",
    "help_text": "adam: a step size for every weight, from its own gradients (Kingma & Ba 2015). adamw: weight decay "
    "apart from it (Loshchilov & Hutter 2019). sgd: one step size for all, with momentum 0.9.",
}

RECIPE: dict[str, Param] = {
    "text": Text("", longest=4_000),
    "length": Whole(12, 2, 256),
    "n_symbols": Whole(10, 2, 26),
    "n_train": Size(4096, (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)),
    "steps": Size(600, (5, 10, 20, 50, 100, 200, 300, 400, 500, 600, 800, 1000, 1200, 1500, 2000, 3000, 4000, 5000)),
    "batch_size": Size(64, (1, 2, 4, 8, 16, 32, 64, 128, 256)),
    "optimizer": Choice("adam", ("adam", "adamw", "sgd"), **_OPTIMIZER),
    "schedule": Choice("paper", ("paper", "constant")),
    "lr": Size(
        Recipe.lr, (1e-5, 3e-5, 1e-4, 2e-4, 3e-4, 5e-4, 1e-3, 2e-3, 3e-3, 4e-3, 5e-3, 0.01, 0.02, 0.1, 1, 10, 100)
    ),
    "warmup": Size(100, (1, 10, 20, 50, 100, 200, 300, 400, 500, 1000, 2000, 4000)),
    **STRENGTHS,
}
"""A recipe's fields that can be set, but for its task and its seed."""

SMALL = {"d_model": 64, "n_heads": 4, "n_layers": 2, "d_ff": 256}
"""Sizes small enough to train while one waits."""

LAST_MOMENT = 20
"""The end of a run on the slider through its saved steps; 0 is its beginning."""

TRAINING: dict[str, Param] = {
    "training_task": Choice("Reverse", tuple(TASK_TITLES)),
    **{f"training_{name}": param for name, param in RECIPE.items()},
    "training_attention": Choice("self", ("self", "encoder self", "decoder self", "cross")),
    "training_layer": Whole(0, 0, 7),
    "training_head": Whole(0, 0, 15),
    "training_moment": Whole(LAST_MOMENT, 0, LAST_MOMENT),
    "training_sequence": Text("", longest=1_000),
    "training_prompt": Text("The ", longest=200),
    "training_heat": Size(0.7, (0.0, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5, 2.0)),
    "training_top_k": Whole(0, 0, 20),
}

FIELDS = {regulariser.choice: field for field, regulariser in REGULARISERS.items()}
"""What can be chosen for a comparison, which is its word in the link → the recipe's field."""

TO_BEGIN_WITH = ("Dropout on attention weights", "Weight decay", "Label smoothing", "Early stopping")


def _strength(field: str) -> Param:
    """From its usual strength to all that it may have; none of them is off: that is what choosing it decides."""
    usual, param = REGULARISERS[field].usual, STRENGTHS[field]
    if isinstance(param, Size):
        return Size(usual, tuple(option for option in param.options if option > 0))
    return Whole(usual, 1, param.high if isinstance(param, Whole) else 1)


COMPARED: dict[str, Param] = {
    field: _strength(field) for field, regulariser in REGULARISERS.items() if not regulariser.on_by_default
}
"""How strong each regulariser is, by the recipe's field, once it is chosen."""

ABLATION: dict[str, Param] = {
    "regularisers_task": Choice("Reverse", tuple(TASK_TITLES)),
    "regularisers_data": Choice("small", ("small", "plenty")),
    "regularisers_seeds": Choice("1", ("1", "3")),
    "regularisers_chosen": Several(TO_BEGIN_WITH, tuple(FIELDS)),
    "regularisers_measure": Choice("accuracy", ("accuracy", "loss")),
    "regularisers_optimizer": Choice("adamw", ("adamw", "sgd"), **_OPTIMIZER),
    "regularisers_lr": RECIPE["lr"],
    **{f"regularisers_{field}": param for field, param in COMPARED.items()},
}


DEFAULT_TEXT = "The animal didn't cross the street because it was too tired."
DEFAULT_TARGET = "Het dier stak de straat niet over, omdat het te moe was."
"""What a translator would have made of the default text, in Dutch."""

TRAINED = PRESETS["minilm-l6"].config


def _read_run(text: str) -> Reading:
    """Read the name of a run."""
    if not text or key_in(text):
        return text, None
    return "", f"The link's run={quote_text(text, longest=22)} is no name of a training; it is left out."


def _read_setting(field: str, setting: Setting) -> Param:
    """The parameter of one of `ModelConfig`'s own fields; the checkpoint's value is its default."""
    shown = {"label": f"{setting.label} · `{field}`", "help_text": setting.help_text}
    default = getattr(TRAINED, field)
    if field in CHOICES:
        return Choice(default, CHOICES[field], **shown)
    return Size(default, setting.stops, **shown) if setting.stops else Switch(default, **shown)


ARCHITECTURE = {field: _read_setting(field, setting) for field, setting in SETTINGS.items()}
"""`ModelConfig`'s own fields, in the sidebar's order."""

SIZES = {key: param for key, param in ARCHITECTURE.items() if isinstance(param, Size)}

SHARED: dict[str, Param] = {
    "text": Text(DEFAULT_TEXT, label="Your text, one sentence a line"),
    "sentence": Whole(1, 1, MAX_SENTENCES, label="Sentence to look at"),
    "weights": Choice(
        "minilm",
        ("minilm", "english", "random", "mine", "trained here"),
        label="Weights",
        help_text="minilm: a trained encoder. english: small encoders that learnt a small English, in every "
        "architecture. random: drawn from the seed, in whatever shape you like. "
        "mine: a file that you have saved, of a tutorial's model or another encoder. "
        "trained here: what you have trained on the Training page.",
    ),
    "untrained": Switch(
        False,
        label="before training",
        help_text="The same architecture with random weights: nothing is learnt yet.",
    ),
    "tokenizer": Choice(
        "wordpiece",
        ("wordpiece", "word", "char", "bpe", "vectors"),
        label="cutting text into tokens · `tokenizer`",
        help_text="How text is cut into tokens. wordpiece: the trained model's own. word: your text's own words. "
        "char: one a character. bpe: byte-level byte-pair encoding, trained on Python's help texts. vectors: your "
        "text's own words, each a vector drawn from the seed; there is no table to learn, as in tutorials "
        f"{SHORT_TITLES['B']} and {SHORT_TITLES['C']}.",
    ),
    "vocab_size": Whole(
        2_000,
        MIN_BPE_VOCABULARY,
        MAX_BPE_VOCABULARY,
        label="BPE vocabulary · `vocab_size`",
    ),
    "table_rows": Size(
        0,
        (0, 1_000, 5_000, 10_000, 30_000, 30_522, 32_128, 37_000, 50_257, 50_265, 50_368),
        help_text="Rows of the token table, used or not, with random weights. The table has at least one row for each "
        "of the tokenizer's tokens; 0 adds none.",
        label="rows of the token table · `table_rows`",
    ),
    **ARCHITECTURE,
    "causal": Switch(
        False,
        help_text="No token may look at later ones, as in a decoder.",
        label="causal mask · `causal`",
    ),
    "seed": Whole(
        0,
        0,
        2**31 - 1,
        label="Seed",
        help_text="Random weights are drawn from this number: the same seed gives the same weights everywhere. What "
        "was trained here keeps the one that it began with.",
    ),
    "mask": Whole(
        english.NO_MASK,
        english.NO_MASK,
        MAX_TOKENS - 1,
        label="hidden word",
        help_text="Position of the word that an encoder of the small English fills in; -1 hides none.",
    ),
    "run": Notation(
        "",
        _read_run,
        label="run",
        help_text="The network that was trained: a hash of all that its run depends on, and how much of it was right.",
    ),
    "do": Notation(
        Changes(),
        read_changes,
        label="what if",
        help_text="Changes of the computation, such as 3.1:zero for head 1 of layer 3 at zero, or 2.ffn:off for no "
        "feed-forward in layer 2; with commas between them.",
    ),
}
"""The sidebar's parameters, the same on every page."""

FOCUS: dict[str, Whole] = {
    "layer": Whole(3, 0, 95),
    "head": Whole(1, 0, 95),
    "query": Whole(10, 0, MAX_TOKENS - 1),
    "key": Whole(2, 0, MAX_TOKENS - 1),
}
"""What every page looks at; no widget of Streamlit has these keys, see `focus`. The default: *it* looks at *animal*."""

MAX_STEPS = 20
"""Of a lesson."""

MAX_LESSON = 6_000
"""Characters of a lesson in a link."""

LESSON: dict[str, Param] = {
    "tour": Whole(0, 0, MAX_STEPS + 1),
    "lesson": Text("", longest=MAX_LESSON),
}
"""The step that the visitor is at, from 1, and 0 in no lesson; and the lesson, by its key or as a whole."""

UNBOUND: dict[str, Param] = {**FOCUS, **LESSON, **{key: SHARED[key] for key in ("mask", "run", "do")}}
"""What lies in the session as a plain value, on every page, bound to no widget."""

SENTENCE_PAIR = ("similarity_first", "similarity_second")
"""What chooses two sentences on the page Similarity; they count from 1."""

FOLDS = {
    "step_path": "step_ways",
    "similarity_pooling": "similarity_how",
    "similarity_view": "similarity_closer",
    "similarity_tokens": "similarity_closer",
    "similarity_tokens_first": "similarity_closer",
    "similarity_tokens_second": "similarity_closer",
    "attention_show": "attention_drawing",
    "attention_hide": "attention_drawing",
    "attention_colours": "attention_drawing",
    "attention_why": "attention_steps",
    "attention_view": "attention_closer",
    "norms_view": "norms_closer",
    "norms_norm": "norms_closer",
    "norms_by_token": "norms_closer",
    "positions_view": "positions_closer",
    "position_table": "positions_table",
    "gradient_of": "gradient_six",
    "flops_breakdown": "parameters_costs",
    "flops_by_length": "parameters_costs",
    "capability_by_parameters": "parameters_bought",
    "ladder_costs": "parts_costs",
}
"""By a page's parameter, or a chart: the panel which its widget, what explains it, or the chart, stands in.

A link that sets the one, or asks for the chart alone, opens the other.
"""

POOLINGS = ("mean", "first token", "mean with padding")
"""Those of `analysis.sentences`, whose import would bring pandas along."""

AUTOMATIC, MEAN = "automatic", "mean"
"""The words of `attention_rival` beside a key's position: the strongest other word or key, and the mean over all."""

ENCODERS = (
    "post-norm", "pre-norm", "no norm", "post-norm, no residual", "pre-norm, no residual", "no norm, no residual",
)  # fmt: skip
"""Those of `analysis.gradients`, whose import would bring pandas along."""

OWN: dict[str, Param] = {
    "overview_shapes": Switch(False),
    "overview_batch": Choice(
        "this text",
        ("this text", "tutorial C: 30 × 200"),
        ("the sentences that you typed", f"the batch of {SHORT_TITLES['C']}"),
    ),
    "attention_show": Choice("one head", ("one head", "average of heads")),
    "attention_view": Choice(
        "lines", ("lines", "ranking", "entropy", "rollout", "heads that link", "what heads are known for")
    ),
    "attention_why": Choice("sources", ("sources", "what it moves")),
    "attention_rival": Choice(AUTOMATIC, (AUTOMATIC, MEAN, *map(str, range(MAX_TOKENS)))),
    "attention_hide": Switch(False),
    "attention_colours": Choice("square root", ("square root", "linear")),
    "attention_drawing": Switch(False),
    "attention_steps": Switch(False),
    "attention_closer": Switch(False),
    "norms_view": Choice("tokens", ("tokens", "statistics", "by hand")),
    "norms_norm": Whole(0, 0, 193),
    "norms_closer": Switch(False),
    "positions_view": Choice("this sentence", ("this sentence", "similarity", "doubled exponent")),
    "positions_first": Whole(2, 0, MAX_TOKENS - 1),
    "positions_second": Whole(8, 0, MAX_TOKENS - 1),
    "positions_table": Switch(False),
    "positions_closer": Switch(False),
    "step_path": Choice(
        "as the data moves",
        ("as the data moves", "as tutorial B"),
    ),
    "step_stage": Choice("embedding", STAGES),
    "step_dropout": Switch(False),
    "step_ways": Switch(False),
    "whatif_view": Choice("what followed", ("what followed", "which parts matter", "where the difference sits")),
    "whatif_parts": Choice("heads", ("heads", "sublayers", "pairs of one head", "heads taken out")),
    "whatif_on": Choice("sentence vector", ("sentence vector", "right answers")),
    "whatif_other": Whole(2, 1, MAX_SENTENCES),
    "whatif_pruned": Whole(20, 0, 96 * 96),
    "whatif_more": Switch(False),
    "whatif_tokens": Switch(False),
    "whatif_chosen": Switch(False),
    "compare_head": Switch(False),
    "gradient_layers": Whole(12, 1, 48),
    "gradient_of": Choice("whole layer", ("whole layer", "attention", "feed-forward", "stream")),
    "gradient_first": Choice("no norm", ENCODERS),
    "gradient_second": Choice("no norm, no residual", ENCODERS),
    "gradient_six": Switch(False),
    "parameters_model": Choice("sidebar", ("sidebar", *PRESETS)),
    "parameters_view": Choice("components", ("components", "layers")),
    "parameters_formulas": Switch(False),
    "parameters_costs": Switch(False),
    "parameters_bought": Switch(False),
    "parts_view": Choice("one part away", ("one part away", LADDER)),
    "parts_row": Whole(12, 0, 22),
    "parts_rung": Whole(8, 0, 10),
    "parts_column": Whole(2, 0, 9),
    "parts_costs": Switch(False),
    "tutorials_letter": Choice("A", tuple(TITLES), tuple(LONG_TITLES.values())),
    "tutorials_mistakes": Switch(False),
    "tutorials_five": Switch(False),
    "tutorials_differences": Switch(False),
    "exercises_key": Text("", longest=40),
    "exercises_variant": Whole(0, 0, 999),
    "lab_seed": Whole(0, 0, MAX_SEED),
    "lab_level": Choice(
        LEVELS[0], LEVELS, ("One mistake with clear signs.", "Any one mistake.", "Two mistakes at once.")
    ),
    "lab_tests": Several((), tuple(TESTS)),
    "lab_accused": Several((), tuple(SUSPECTS)),
    "encdec_source": Choice("trained example", ("trained example", "your text")),
    "encdec_example": Text("the small black cat sees a white house", longest=200),
    "encdec_example_attention": Choice("cross", ("encoder self", "decoder self", "cross")),
    "encdec_example_layer": Whole(1, 0, 95),
    "encdec_example_head": Whole(3, 0, 95),
    "encdec_example_position": Whole(0, 0, MAX_TOKENS - 1),
    "encdec_target": Text(DEFAULT_TARGET, longest=500),
    "encdec_attention": Choice("cross", ("encoder self", "decoder self", "cross")),
    "encdec_layer": Whole(0, 0, 95),
    "encdec_head": Whole(0, 0, 95),
    "encdec_position": Whole(0, 0, MAX_TOKENS - 1),
    "encdec_show_training": Switch(False),
    "encdec_show_masks": Switch(False),
    **TRAINING,
    **ABLATION,
    "similarity_list": Text(""),
    "similarity_pooling": Choice("mean", POOLINGS),
    "similarity_first": Whole(1, 1, MAX_LISTED),
    "similarity_second": Whole(2, 1, MAX_LISTED),
    "similarity_view": Choice("token by token", ("token by token", "leave a word out", "by depth")),
    "similarity_closer": Switch(False),
    "similarity_ranking": Switch(False),
    "similarity_how": Switch(False),
}
"""The pages' own parameters; each starts with its page."""

PARAMS = {**SHARED, **UNBOUND, **OWN}

LOCKED = ("tokenizer", "table_rows", *ARCHITECTURE)
"""What the trained weights decide."""


def page_parameters(page: str) -> list[str]:
    """The keys of one page's own parameters, by its path."""
    return [key for key in OWN if key.startswith(page_at(page).parameter_prefix)]


def write(value: object) -> str:
    """Turn a value into the text that its widget puts into the link."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def write_all(value: object) -> list[str]:
    """The texts of a value of any kind of parameter: several words are a text each, no word is an empty text."""
    return [write(word) for word in value] or [""] if isinstance(value, list | tuple) else [write(value)]


def default_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """The default of every parameter beside the values of some: the small English has its own."""
    defaults = {key: param.default for key, param in PARAMS.items()}
    return defaults | (english.default_settings(values) if values.get("weights") == "english" else {})


def write_changed(values: Mapping[str, Any]) -> dict[str, list[str]]:
    """The texts of those parameters that are not at their defaults."""
    defaults, texts = default_values(values), {key: write_all(value) for key, value in values.items()}
    return {key: text for key, text in texts.items() if text != write_all(defaults[key])}
