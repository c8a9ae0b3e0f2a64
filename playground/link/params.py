"""Every query parameter, by its key: its frozen default and how its text is read."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from playground.analysis.steps import STAGES
from playground.config import CHOICES, SETTINGS, ModelConfig, Setting
from playground.language.family import implied
from playground.language.learner import SHOWN
from playground.language.network import BASE, Spec
from playground.language.text import MASK, MASK_ID, VOCABULARY, english_tokenizer
from playground.limits import MAX_LISTED, MAX_SENTENCES, MAX_TOKENS
from playground.link.kinds import (
    Changes,
    Param,
    Reading,
    choice,
    notation,
    read_changes,
    several,
    size,
    switch,
    text,
    whole,
    write,
)  # fmt: skip
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

ENGLISH_TEXT = SHOWN.replace(MASK, "animal")
ENGLISH_PLACE = english_tokenizer().encode_batch([SHOWN]).ids[0].tolist().index(MASK_ID)
"""Position of the word that is hidden at first in the small English's text."""

NO_MASK = -1

TASK_TITLES: dict[str, str] = {task.title: name for name, task in TASKS.items()}
"""A task's title, which is its word in the link → its name."""

_DROPOUT = size(0.0, (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6))

STRENGTHS: dict[str, Param] = {
    "dropout_attention": _DROPOUT,
    "causal": switch(True),
    "weight_decay": size(0.0, (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)),
    "layer_norm": switch(True),
    "label_smoothing": size(0.0, (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)),
    "patience": whole(0, 0, 20),
    "token_masking": size(0.0, (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)),
    "clip": size(0.0, (0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0)),
    "distill": size(0.0, (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)),
    "dropout_residual": _DROPOUT,
    "temperature": size(2.0, (0.5, 1.0, 2.0, 3.0, 5.0, 10.0)),
}
"""How strong each regulariser may be, by the recipe's field."""

RECIPE: dict[str, Param] = {
    "text": text("", longest=4_000),
    "length": whole(12, 2, 256),
    "n_symbols": whole(10, 2, 26),
    "n_train": size(4096, (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)),
    "steps": size(600, (5, 10, 20, 50, 100, 200, 300, 400, 500, 600, 800, 1000, 1200, 1500, 2000, 3000, 4000, 5000)),
    "batch_size": size(64, (1, 2, 4, 8, 16, 32, 64, 128, 256)),
    "optimizer": choice("adam", ("adam", "adamw", "sgd"), words="optimizer"),
    "schedule": choice("paper", ("paper", "constant")),
    "lr": size(
        Recipe.lr, (1e-5, 3e-5, 1e-4, 2e-4, 3e-4, 5e-4, 1e-3, 2e-3, 3e-3, 4e-3, 5e-3, 0.01, 0.02, 0.1, 1, 10, 100)
    ),
    "warmup": size(100, (1, 10, 20, 50, 100, 200, 300, 400, 500, 1000, 2000, 4000)),
    **STRENGTHS,
}
"""A recipe's fields that can be set, but for its task and its seed."""

SMALL = {"d_model": 64, "n_heads": 4, "n_layers": 2, "d_ff": 256}
"""Sizes that are trained in a minute."""

LAST_MOMENT = 20
"""The end of a run on the slider through its saved steps; 0 is its beginning."""

TRAINING: dict[str, Param] = {
    "training_task": choice("Reverse", tuple(TASK_TITLES)),
    **{f"training_{name}": param for name, param in RECIPE.items()},
    "training_attention": choice("self", ("self", "encoder self", "decoder self", "cross")),
    "training_layer": whole(0, 0, 7),
    "training_head": whole(0, 0, 15),
    "training_moment": whole(LAST_MOMENT, 0, LAST_MOMENT),
    "training_sequence": text("", longest=1_000),
    "training_prompt": text("The ", longest=200),
}

FIELDS = {regulariser.choice: field for field, regulariser in REGULARISERS.items()}


def _strength(field: str) -> Param:
    usual, options = REGULARISERS[field].usual, STRENGTHS[field].options
    return replace(STRENGTHS[field], default=usual, options=tuple(option for option in options if option > 0))


COMPARED: dict[str, Param] = {
    field: _strength(field) for field, regulariser in REGULARISERS.items() if not regulariser.on_by_default
}
"""The same, once it is chosen: none is off."""

ABLATION: dict[str, Param] = {
    "regularisers_task": choice("Reverse", tuple(TASK_TITLES)),
    "regularisers_data": choice("small", ("small", "plenty")),
    "regularisers_seeds": choice("1", ("1", "3")),
    "regularisers_chosen": several(
        ("Dropout on attention weights", "Weight decay", "Label smoothing", "Early stopping"), tuple(FIELDS)
    ),
    "regularisers_measure": choice("accuracy", ("accuracy", "loss")),
    "regularisers_optimizer": choice("adamw", ("adamw", "sgd"), words="optimizer"),
    "regularisers_lr": RECIPE["lr"],
    **{f"regularisers_{field}": param for field, param in COMPARED.items()},
}


DEFAULT_TEXT = "The animal didn't cross the street because it was too tired."
DEFAULT_TARGET = "Het dier stak de straat niet over, omdat het te moe was."

TRAINED = PRESETS["minilm-l6"].config


def _read_run(text: str) -> Reading:
    if not text or key_in(text):
        return text, None
    return "", f"The link's run={quote_text(text, longest=22)} is no name of a training; it is left out."


def _read_setting(field: str, setting: Setting) -> Param:
    default = getattr(TRAINED, field)
    if field in CHOICES:
        return choice(default, CHOICES[field])
    return size(default, setting.stops) if setting.stops else switch(default)


ARCHITECTURE = {field: _read_setting(field, setting) for field, setting in SETTINGS.items()}
"""`ModelConfig`'s own fields, in the sidebar's order."""

SIZES = {key: param for key, param in ARCHITECTURE.items() if param.kind == "size"}

_SIDEBAR: dict[str, Param] = {
    "text": text(DEFAULT_TEXT),
    "sentence": whole(1, 1, MAX_SENTENCES),
    "weights": choice("minilm", ("minilm", "english", "random", "mine", "trained here")),
    "untrained": switch(False),
    "tokenizer": choice("wordpiece", ("wordpiece", "word", "char", "bpe", "vectors")),
    "vocab_size": whole(2_000, MIN_BPE_VOCABULARY, MAX_BPE_VOCABULARY),
    "table_rows": size(0, (0, 1_000, 5_000, 10_000, 30_000, 30_522, 32_128, 37_000, 50_257, 50_265, 50_368)),
    **ARCHITECTURE,
    "causal": switch(False),
    "seed": whole(0, 0, 2**31 - 1),
    "mask": whole(NO_MASK, NO_MASK, MAX_TOKENS - 1),
    "run": notation("", parse=_read_run),
    "do": notation(Changes(), parse=read_changes),
}

SHARED = {key: replace(param, words=key) for key, param in _SIDEBAR.items()}
"""The sidebar's parameters, the same on every page."""

FOCUS: dict[str, Param] = {
    "layer": whole(3, 0, 95),
    "head": whole(1, 0, 95),
    "query": whole(10, 0, MAX_TOKENS - 1),
    "key": whole(2, 0, MAX_TOKENS - 1),
}
"""What every page looks at. The default: *it* looks at *animal*."""

MAX_STEPS = 20

MAX_LESSON = 6_000

LESSON: dict[str, Param] = {
    "tour": whole(0, 0, MAX_STEPS + 1),
    "lesson": text("", longest=MAX_LESSON),
}
"""The step that the visitor is at, from 1, 0 in no lesson; and the lesson, by its key or as a whole."""

AROUND: dict[str, Param] = {**LESSON, "present": switch(False)}
"""What stands around every page, which no Undo changes: the lesson, and whether the page is for a projector."""

UNBOUND: dict[str, Param] = {**FOCUS, **AROUND, **{key: SHARED[key] for key in ("mask", "run", "do")}}
"""What has no widget, on every page."""

SENTENCE_PAIR = ("similarity_first", "similarity_second")

_IN_PANELS = {
    "step_ways": "step_path",
    "similarity_how": "similarity_pooling",
    "similarity_closer": "similarity_view similarity_word similarity_tokens similarity_tokens_first "
    "similarity_tokens_second",
    "attention_closer": "attention_view",
    "norms_closer": "norms_view norms_norm norms_by_token norm_numbers_1 norm_numbers_2",
    "positions_closer": "positions_view",
    "positions_table": "position_table",
    "gradient_six": "gradient_of",
    "parameters_costs": "flops_breakdown flops_by_length",
    "parameters_bought": "capability_by_parameters",
    "parts_costs": "ladder_costs",
}

FOLDS = {key: panel for panel, keys in _IN_PANELS.items() for key in keys.split()}
"""By a page's parameter, or a chart: the panel that it stands in, which a link with it opens."""

POOLINGS = ("mean", "first token", "mean with padding")

AUTOMATIC, MEAN = "automatic", "mean"
"""`attention_rival` beside a key's position: the strongest other word or key, and the mean over all."""

ENCODERS = (
    "post-norm", "pre-norm", "no norm", "post-norm, no residual", "pre-norm, no residual", "no norm, no residual",
)  # fmt: skip

_OFF = {
    "overview": "shapes",
    "attention": "hide closer",
    "norms": "closer",
    "positions": "table closer",
    "step": "dropout ways",
    "whatif": "more tokens chosen",
    "compare": "head",
    "gradient": "six",
    "parameters": "formulas costs bought",
    "parts": "costs",
    "tutorials": "mistakes five differences",
    "encdec": "show_training show_masks",
    "similarity": "closer ranking how",
}
"""By the prefix of a page's parameters: switches and panels, off or closed by default."""

OWN: dict[str, Param] = {
    **{f"{page}_{name}": switch(False) for page, names in _OFF.items() for name in names.split()},
    "overview_batch": choice(
        "this text",
        ("this text", "tutorial C: 30 × 200"),
        ("the sentences that you typed", f"the batch of {SHORT_TITLES['C']}"),
    ),
    "attention_show": choice("one head", ("one head", "average of heads")),
    "attention_view": choice(
        "lines",
        (
            *("lines", "ranking", "entropy", "heads that link", "what heads are known for"),
            *("sources", "swap two words", "what it moves"),
        ),
    ),
    "attention_rival": choice(AUTOMATIC, (AUTOMATIC, MEAN, *map(str, range(MAX_TOKENS)))),
    "attention_colours": choice("square root", ("square root", "linear")),
    "norms_view": choice("tokens", ("tokens", "statistics", "by hand")),
    "norms_norm": whole(0, 0, 193),
    "positions_view": choice("this sentence", ("this sentence", "similarity", "doubled exponent")),
    "positions_first": whole(2, 0, MAX_TOKENS - 1),
    "positions_second": whole(8, 0, MAX_TOKENS - 1),
    "step_path": choice("as the data moves", ("as the data moves", "as tutorial B")),
    "step_stage": choice("embedding", STAGES),
    "whatif_view": choice("what followed", ("what followed", "which parts matter", "where the difference sits")),
    "whatif_parts": choice("heads", ("heads", "sublayers", "pairs of one head")),
    "whatif_on": choice("sentence vector", ("sentence vector", "right answers")),
    "whatif_other": whole(2, 1, MAX_SENTENCES),
    "gradient_layers": whole(12, 1, 48),
    "gradient_of": choice("whole layer", ("whole layer", "attention", "feed-forward", "stream")),
    "gradient_first": choice("no norm", ENCODERS),
    "gradient_second": choice("no norm, no residual", ENCODERS),
    "parameters_model": choice("sidebar", ("sidebar", *PRESETS)),
    "parameters_view": choice("components", ("components", "layers")),
    "parts_view": choice("one part away", ("one part away", LADDER)),
    "parts_row": whole(12, 0, 25),
    "parts_rung": whole(8, 0, 10),
    "parts_column": whole(2, 0, 9),
    "tutorials_letter": choice("A", tuple(TITLES), tuple(LONG_TITLES.values())),
    "exercises_key": text("", longest=40),
    "exercises_variant": whole(0, 0, 999),
    "lab_seed": whole(0, 0, MAX_SEED),
    "lab_level": choice(
        LEVELS[0], LEVELS, ("One mistake with clear signs.", "Any one mistake.", "Two mistakes at once.")
    ),
    "lab_tests": several((), tuple(TESTS)),
    "lab_accused": several((), tuple(SUSPECTS)),
    "encdec_source": choice("trained example", ("trained example", "your text")),
    "encdec_example": text("the small black cat sees a white house", longest=200),
    "encdec_example_layer": whole(1, 0, 95),
    "encdec_example_head": whole(3, 0, 95),
    "encdec_target": text(DEFAULT_TARGET, longest=500),
    "encdec_layer": whole(0, 0, 95),
    "encdec_head": whole(0, 0, 95),
    **dict.fromkeys(
        ("encdec_attention", "encdec_example_attention"), choice("cross", ("encoder self", "decoder self", "cross"))
    ),
    **dict.fromkeys(("encdec_position", "encdec_example_position"), whole(0, 0, MAX_TOKENS - 1)),
    **TRAINING,
    **ABLATION,
    "similarity_list": text(""),
    "similarity_pooling": choice("mean", POOLINGS),
    "similarity_first": whole(1, 1, MAX_LISTED),
    "similarity_second": whole(2, 1, MAX_LISTED),
    "similarity_view": choice("token by token", ("token by token", "leave a word out", "by depth", "one word")),
    "similarity_word": text("", longest=60),
}
"""The pages' own parameters; each starts with its page."""

PARAMS = {**SHARED, **UNBOUND, **OWN}

LOCKED = ("tokenizer", "table_rows", *ARCHITECTURE)
"""What the trained weights decide."""


@cache
def page_parameters(page: str) -> tuple[str, ...]:
    """Return the keys of a page's own parameters, by its path."""
    prefix = page_at(page).parameter_prefix
    return tuple(key for key in OWN if key.startswith(prefix))


def write_all(value: object) -> list[str]:
    """Return the texts of a value: one for each of several words."""
    return [write(word) for word in value] or [""] if isinstance(value, list | tuple) else [write(value)]


_DECIDING, FOLLOWING = ("d_model", "norm_placement", "norm"), ("d_ff", "final_norm", "n_heads")
"""The settings of the small English from which the defaults of others follow, and these others."""


def english_defaults(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the base's architecture, text and mask, with what follows from given values (`family.implied`)."""
    following = implied({key: values[key] for key in _DECIDING if key in values})
    mask = ENGLISH_PLACE if values.get("text", ENGLISH_TEXT) == ENGLISH_TEXT else NO_MASK
    return {**{key: getattr(BASE, key) for key in SETTINGS}, **following, "text": ENGLISH_TEXT, "mask": mask}


def spec_of(values: Mapping[str, Any]) -> Spec:
    """Return the network of the small English that settled values name."""
    return Spec(model_config(values, len(VOCABULARY)), values["causal"], values["seed"])


def values_of(spec: Spec) -> dict[str, Any]:
    """Return the settings of a network, by their keys in the link."""
    return {**{key: getattr(spec.config, key) for key in SETTINGS}, "causal": spec.causal, "seed": spec.seed}


def model_config(values: Mapping[str, Any], vocab_size: int) -> ModelConfig:
    """Return the architecture that values describe, for a tokenizer's vocabulary; raises ConfigError."""
    return ModelConfig(vocab_size=vocab_size, **{key: values[key] for key in ARCHITECTURE})


def default_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return every parameter's default beside the values of some: the small English has its own."""
    defaults = {key: param.default for key, param in PARAMS.items()}
    return defaults | (english_defaults(values) if values.get("weights") == "english" else {})


def write_changed(values: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the texts of those parameters that are not at their defaults."""
    defaults = default_values(values)
    changed = {key: write_all(value) for key, value in values.items() if value != defaults[key]}
    return {key: texts for key, texts in changed.items() if texts != write_all(defaults[key])}
