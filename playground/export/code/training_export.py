"""A training run as a file or a notebook: its architecture, its recipe, and the playground's own trainer."""

from itertools import islice

from playground.config import ModelConfig
from playground.export.code.export import Export, Section
from playground.export.code.rendering import build_call, number_list
from playground.text.wording import count_noun
from playground.training.recipe import Recipe
from playground.training.tasks import TASKS, Data
from playground.training.trainer import Trainer

SHOWN_LOSSES = 5
"""Of a run's first steps, which the written code has to give."""

_REPORTS = 10
"""Lines that the written code prints while it trains."""

_LOOP = """for step in trainer.run():
    if step % {report} == 0:
        print(f"step {{step}}: loss {{losses[-1]:.4f}}")
print(trainer.message())"""

_PROOF = """torch.testing.assert_close(losses[: len(shown_losses)], shown_losses, atol=1e-4, rtol=1e-4)
validation = trainer.history.evaluations[-1].validation
print(f"The first losses are those of the page. Right in {validation.accuracy:.1%} of the validation set.")"""


def export_training(config: ModelConfig, recipe: Recipe, data: Data | None = None) -> Export:
    """The sections of a training run, whose first steps are taken here to compare with.

    Args:
        config: the architecture; the task decides its vocabulary.
        recipe: the run.
        data: the recipe's data, if it is there already.

    Raises:
        RecipeError: the recipe does not fit its task or the architecture.
    """
    trainer = Trainer(config, recipe, data=data, watch=False)
    first = "trainer" if trainer.teacher is None else "trainer.teacher"
    losses = (trainer.teacher or trainer).history.loss
    for _ in islice(trainer.run(), min(SHOWN_LOSSES, recipe.steps)):
        pass
    layers, steps = count_noun(trainer.config.n_layers, "layer"), count_noun(recipe.steps, "step")
    sections = [
        Section(
            "training_recipe",
            "The architecture and the recipe",
            "Every random choice follows from the recipe's seed: data, first weights, the order of batches, dropout.",
            f"config = {build_call('ModelConfig', trainer.config)}\nrecipe = {build_call('Recipe', recipe)}\n"
            "trainer = Trainer(config, recipe)",
        ),
        Section(
            "training_loop",
            "The training loop",
            "`playground/training/trainer.py` has the loop. It hands over after every step.",
            f"losses = {first}.history.loss\n{_LOOP.format(report=max(1, recipe.steps // _REPORTS))}",
        ),
        Section(
            "training_proof",
            "The page's own numbers",
            "The losses of the first steps are those of the page. Later steps can differ in the last digits from "
            "machine to machine.",
            f"shown_losses = {number_list(losses[:SHOWN_LOSSES])}\n{_PROOF}",
        ),
    ]
    first_line = f"{TASKS[recipe.task].title}: {layers}, d_model {trainer.config.d_model}, {steps}."
    return Export("training", first_line, sections)
