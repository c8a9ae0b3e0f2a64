"""Query parameters of the pages Training and Regularisers: recipes, sizes, strengths, and what to look at."""

from playground.link.kinds import Choice, Param, Several, Size, Switch, Text, Whole
from playground.training.recipe import Recipe
from playground.training.regularisers.catalogue import REGULARISERS
from playground.training.tasks import TASKS

TITLES: dict[str, str] = {task.title: name for name, task in TASKS.items()}
"""A task's title, which is its word in the link → its name."""

_DROPOUT = Size(0.0, (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6))
_AUGMENTATION = Size(0.0, (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5))

STRENGTHS: dict[str, Param] = {
    "dropout_attention": _DROPOUT,
    "dropout_feedforward": _DROPOUT,
    "dropout_positions": _DROPOUT,
    "mask_padding": Switch(True),
    "causal": Switch(True),
    "weight_decay": Size(0.0, (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)),
    "layer_norm": Switch(True),
    "label_smoothing": Size(0.0, (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)),
    "patience": Whole(0, 0, 20),
    "token_masking": _AUGMENTATION,
    "token_swapping": _AUGMENTATION,
    "span_masking": _AUGMENTATION,
    "noise": Size(0.0, (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)),
    "shuffling": _AUGMENTATION,
    "clip": Size(0.0, (0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0)),
    "distill": Size(0.0, (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)),
    "dropout_residual": _DROPOUT,
    "temperature": Size(2.0, (0.5, 1.0, 2.0, 3.0, 5.0, 10.0)),
}
"""How strong each regulariser may be, by the recipe's field; off, or as a transformer has it by nature, by default."""

RECIPE: dict[str, Param] = {
    "text": Text("", longest=4_000),
    "length": Whole(12, 2, 256),
    "n_symbols": Whole(10, 2, 26),
    "n_train": Size(4096, (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)),
    "steps": Size(600, (5, 10, 20, 50, 100, 200, 300, 400, 500, 600, 800, 1000, 1200, 1500, 2000, 3000, 4000, 5000)),
    "batch_size": Size(64, (1, 2, 4, 8, 16, 32, 64, 128, 256)),
    "optimizer": Choice("adam", ("adam", "adamw", "sgd")),
    "schedule": Choice("paper", ("paper", "constant")),
    "lr": Size(
        Recipe.lr, (1e-5, 3e-5, 1e-4, 2e-4, 3e-4, 5e-4, 1e-3, 2e-3, 3e-3, 4e-3, 5e-3, 0.01, 0.02, 0.1, 1, 10, 100)
    ),
    "warmup": Size(100, (1, 10, 20, 50, 100, 200, 300, 400, 500, 1000, 2000, 4000)),
    **STRENGTHS,
}
"""A recipe's fields, but for its task and its seed."""

TRAINED_SIZES: dict[str, Param] = {
    "d_model": Size(64, (8, 16, 32, 48, 64, 96, 128, 192, 256)),
    "n_heads": Size(4, (1, 2, 3, 4, 6, 8, 12, 16)),
    "n_layers": Size(2, (1, 2, 3, 4, 5, 6, 7, 8)),
    "d_ff": Size(256, (16, 32, 64, 128, 192, 256, 384, 512, 768, 1024)),
}
"""Sizes small enough to train while one waits; everything else of the architecture is the sidebar's."""

LAST_MOMENT = 20
"""The end of a run on the slider through its saved steps; 0 is its beginning."""

TRAINING: dict[str, Param] = {
    "training_task": Choice("Reverse", tuple(TITLES)),
    **{f"training_{name}": param for name, param in (RECIPE | TRAINED_SIZES).items()},
    "training_attention": Choice("self", ("self", "encoder self", "decoder self", "cross")),
    "training_layer": Whole(0, 0, 7),
    "training_head": Whole(0, 0, 15),
    "training_moment": Whole(LAST_MOMENT, 0, LAST_MOMENT),
    "training_prompt": Text("The ", longest=200),
    "training_heat": Size(0.7, (0.0, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5, 2.0)),
    "training_top_k": Whole(0, 0, 20),
}

FIELDS = {regulariser.choice: field for field, regulariser in REGULARISERS.items()}
"""What can be chosen for a comparison, which is its word in the link → the recipe's field."""

_RENAMED = {regulariser.title: regulariser.choice for regulariser in REGULARISERS.values() if regulariser.on_by_default}
"""Earlier links name what is taken away by its bare title: “Padding mask” for “Without padding mask”."""

TO_BEGIN_WITH = (
    "Dropout on attention weights",
    "Without padding mask",
    "Weight decay",
    "Label smoothing",
    "Early stopping",
    "Token swapping",
)


def _strength(field: str) -> Param:
    """From its usual strength to all that it may have; none of them is off: that is what choosing it decides."""
    usual, param = REGULARISERS[field].usual, STRENGTHS[field]
    if isinstance(param, Size):
        return Size(usual, tuple(option for option in param.options if option > 0))
    return Whole(usual, 1, param.high if isinstance(param, Whole) else 1)


COMPARED: dict[str, Param] = {
    field: _strength(field) for field, regulariser in REGULARISERS.items() if not regulariser.on_by_default
} | {"temperature": STRENGTHS["temperature"]}
"""How strong each regulariser is, by the recipe's field, once it is chosen."""

ABLATION: dict[str, Param] = {
    "regularisers_task": Choice("Reverse", tuple(TITLES)),
    "regularisers_data": Choice("small", ("small", "plenty")),
    "regularisers_seeds": Choice("1", ("1", "3")),
    "regularisers_chosen": Several(TO_BEGIN_WITH, tuple(FIELDS), _RENAMED),
    "regularisers_measure": Choice("accuracy", ("accuracy", "loss")),
    **{f"regularisers_{field}": param for field, param in COMPARED.items()},
}
