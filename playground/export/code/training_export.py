"""A training run as a script: its architecture, its recipe, and the playground's own trainer."""

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

_ABOUT = """`playground/training/trainer.py` has the loop. Every random choice follows from the recipe's seed. The
losses of the first steps are those of the page; later steps can differ in the last digits from machine to machine."""

_SCRIPT = """config = {config}
recipe = {recipe}
trainer = Trainer(config, recipe)
losses = {first}.history.loss
for step in trainer.run():
    if step % {report} == 0:
        print(f"step {{step}}: loss {{losses[-1]:.4f}}")
print(trainer.message())
shown_losses = {losses}
torch.testing.assert_close(losses[: len(shown_losses)], shown_losses, atol=1e-4, rtol=1e-4)
validation = trainer.history.evaluations[-1].validation
print(f"The first losses are those of the page. Right in {{validation.accuracy:.1%}} of the validation set.")"""


def export_training(config: ModelConfig, recipe: Recipe, data: Data | None = None) -> Export:
    """Return the script of a training run, whose first steps are taken here to compare with.

    Args:
        config: the architecture; the task decides its vocabulary.
        recipe: the run.
        data: the recipe's data, if it is there already.

    Raises:
        RecipeError: the recipe does not fit its task or the architecture.
    """
    trainer = Trainer(config, recipe, data=data, watch=False)
    losses = (trainer.teacher or trainer).history.loss
    for _ in islice(trainer.run(), min(SHOWN_LOSSES, recipe.steps)):
        pass
    script = _SCRIPT.format(
        config=build_call("ModelConfig", trainer.config),
        recipe=build_call("Recipe", recipe),
        first="trainer" if trainer.teacher is None else "trainer.teacher",
        report=max(1, recipe.steps // 10),
        losses=number_list(losses[:SHOWN_LOSSES]),
    )
    layers, steps = count_noun(trainer.config.n_layers, "layer"), count_noun(recipe.steps, "step")
    first_line = f"{TASKS[recipe.task].title}: {layers}, d_model {trainer.config.d_model}, {steps}."
    return Export("training", first_line, [Section("training", "The training run", _ABOUT, script)])
