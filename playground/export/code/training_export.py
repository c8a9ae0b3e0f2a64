"""A training run as a file or a notebook: its task's data, its network, its recipe, and the loop."""

import inspect
import re
import textwrap
from collections.abc import Callable
from itertools import islice
from typing import Any

from playground.config import ModelConfig
from playground.errors import RecipeError
from playground.export.code.export import Export, Section
from playground.export.code.rendering import (
    MASK,
    NO_MASK,
    OPTIONAL_MASK,
    architecture_values,
    memory_masks,
    render_sections,
)
from playground.text.wording import count_noun
from playground.training import augment
from playground.training.network import count_network
from playground.training.recipe import Recipe
from playground.training.tasks import TASKS, Data
from playground.training.tasks.symbol_tasks import MadeUpTask
from playground.training.trainer import Trainer

SHOWN_LOSSES = 5
"""Of a run's first steps, which the written code has to give."""

_REPORTS = 10
"""Lines that the written code prints while it trains."""


def export_training(config: ModelConfig, recipe: Recipe, data: Data | None = None) -> Export:
    """The sections of a training run, whose first steps are taken here to compare with.

    Args:
        config: the architecture; the task decides its vocabulary.
        recipe: the run.
        data: the recipe's data, if it is there already.

    Raises:
        RecipeError: the recipe does not fit its task or the architecture, or it can't be written.
    """
    _check(recipe)
    trainer = Trainer(config, recipe, data=data, watch=False)
    losses = trainer.history.loss
    for _ in islice(trainer.run(), min(SHOWN_LOSSES, recipe.steps)):
        pass
    task = TASKS[recipe.task]
    layers, steps = count_noun(trainer.config.n_layers, "layer"), count_noun(recipe.steps, "step")
    first_line = f"{task.title}: {layers}, d_model {trainer.config.d_model}, {steps}."
    return Export("training", first_line, _sections(trainer, losses[:SHOWN_LOSSES]))


def _check(recipe: Recipe) -> None:
    """Raise RecipeError for the first thing that no file is written of."""
    task = TASKS[recipe.task]
    has_own_data = type(task).make_data is not MadeUpTask.make_data
    if not isinstance(task, MadeUpTask) or has_own_data or type(task).draw is not MadeUpTask.draw:
        raise RecipeError("task", recipe.task, "has data that no file can be written of", ("reverse",))
    if recipe.distill:
        raise RecipeError("distill", recipe.distill, "needs a teacher, of which no file is written", (0.0,))
    if recipe.noise and task.has_decoder:
        raise RecipeError("noise", recipe.noise, "is not written down for an encoder–decoder", (0.0,))


def _sections(trainer: Trainer, losses: list[float]) -> list[Section]:
    recipe, config, data = trainer.recipe, trainer.config, trainer.data
    has_decoder = data.task.has_decoder
    has_dropout = any(
        (recipe.dropout_positions, recipe.dropout_attention, recipe.dropout_feedforward, recipe.dropout_residual)
    )
    is_augmented = any((recipe.shuffling, recipe.token_swapping, recipe.token_masking, recipe.span_masking))
    mask = MASK if recipe.mask_padding else NO_MASK
    names = [
        *("numbers", "training_numbers", "training_data"),
        *(["training_dropout"] if has_dropout or recipe.noise else []),
        *(["norm"] if config.norm != "none" else []),
        *("attention", "feedforward", "block", "embedding", "encoder"),
        *(["decoder_block", "encoder_decoder"] if has_decoder else ["tagger"]),
        "random_weights",
        *(["training_augment"] if is_augmented else []),
        *("training_loop", "training_proof"),
    ]
    values = architecture_values(
        config,
        mask=mask,
        attention_mask=OPTIONAL_MASK if has_decoder and not recipe.mask_padding else mask,
        recipe=recipe,
    )
    values |= _training_values(trainer) | {
        "losses": losses,
        "has_dropout": has_dropout,
        "has_augment": is_augmented,
        "has_memory": has_decoder,
        "has_two_tables": has_decoder,
        **memory_masks(values, has_padding=recipe.mask_padding),
        "has_plain_head": True,
        "forward_masks": ", ".join([*(["src_mask: Tensor"] if recipe.mask_padding else []), "tgt_mask: Tensor"]),
    }
    return list(render_sections(names, values))


def _training_values(trainer: Trainer) -> dict[str, Any]:
    recipe, config, data = trainer.recipe, trainer.config, trainer.data
    task = data.task
    if not isinstance(task, MadeUpTask):
        raise TypeError(f"{task.name} is not made up")
    return {
        "seed": recipe.seed,
        "weights": "random",
        "has_halves": True,  # the network's encoder has the weights of an encoder alone
        "task": task,
        "first_id": task.first_id,
        "shortest": task.lengths(recipe.length)[0],
        "answers_source": _method_source(type(task).answers),
        "n_classes": len(data.labels),
        "tgt_vocab_size": len(data.labels),
        "batch_size": min(recipe.batch_size, len(data.train)),
        "report": max(1, recipe.steps // _REPORTS),
        "augment_lines": _augment_lines(recipe),
        "augment_sources": _augment_sources(recipe),
        "changes": _describe_changes(recipe),
        "n_parameters": f"{count_network(config, task, len(data.labels)):_}",
    }


def _method_source(method: Callable[..., Any]) -> str:
    """A task's method as a function of ids alone, from the running source."""
    source = textwrap.dedent(inspect.getsource(method)).strip()
    return source.replace("(self, ids: Tensor, length: int)", "(ids: Tensor)")


def _augment_lines(recipe: Recipe) -> list[str]:
    """The lines that change ids, as far as the recipe asks for it; the last returns."""
    draws, steps = [], []
    if recipe.shuffling:
        draws += [
            f"chosen = torch.rand(len(ids), 1, generator=shuffling) < {recipe.shuffling}",
            "places = torch.rand(ids.shape, generator=shuffling)",
        ]
        steps.append("shuffle_windows(ids, chosen, places)")
    if recipe.token_swapping or recipe.token_masking or recipe.span_masking:
        used = {
            "shift": recipe.token_swapping,
            "start": recipe.span_masking,
            "swap": recipe.token_swapping,
            "single": recipe.token_masking,
        }
        shift, start, swap, single = (name if strength else "_" for name, strength in used.items())
        draws += [
            "# All four are drawn, so that one change leaves to the others the draws that they had.",
            f"{shift}, {start} = torch.rand(2, len(ids), 1, generator=augmenting)",
            f"{swap}, {single} = torch.rand(2, *ids.shape, generator=augmenting)",
        ]
    if recipe.token_swapping:
        steps.append(f"swap_neighbours(ids, shift < 0.5, swap < {recipe.token_swapping})")
    hidden = [f"(single < {recipe.token_masking})"] if recipe.token_masking else []
    hidden += [f"draw_span(ids != PAD_ID, {recipe.span_masking}, start)"] if recipe.span_masking else []
    if hidden:
        joined = f"({' | '.join(hidden)})" if len(hidden) > 1 else hidden[0]
        steps.append(f"ids.masked_fill({joined} & is_ordinary(ids), MASK_ID)")
    return [*draws, *(f"ids = {step}" for step in steps[:-1]), *(f"return {step}" for step in steps[-1:])]


def _augment_sources(recipe: Recipe) -> list[str]:
    """The running source of what changes inputs, as far as the recipe needs it."""
    wanted: dict[Callable[..., Any], float] = {
        augment.shuffle_windows: recipe.shuffling,
        augment.swap_neighbours: recipe.token_swapping,
        augment.draw_span: recipe.span_masking,
        augment._is_ordinary: 1.0,
    }
    sources = [inspect.getsource(function).strip() for function, strength in wanted.items() if strength]
    names = {"_is_ordinary": "is_ordinary", r"len\(SPECIALS\)": "FIRST_ID", r"\bWINDOW\b": str(augment.WINDOW)}
    for pattern, replacement in names.items():
        sources = [re.sub(pattern, replacement, source) for source in sources]
    return [re.sub(r", device=ids\.device", "", source) for source in sources]


def _describe_changes(recipe: Recipe) -> str:
    changes = {
        "shuffle windows": recipe.shuffling,
        "swap neighbours": recipe.token_swapping,
        "mask single tokens": recipe.token_masking,
        "mask a span": recipe.span_masking,
    }
    return ", ".join(name for name, strength in changes.items() if strength)
