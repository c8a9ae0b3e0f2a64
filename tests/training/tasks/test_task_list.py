"""The catalogue of tasks holds every task of a recipe, and says something about each."""

from dataclasses import fields

import pytest

from playground.training.recipe import Recipe
from playground.training.tasks import TASKS, make_data
from playground.training.tasks.examples import IGNORE


def test_every_task_is_there_under_its_name_and_title() -> None:
    assert all(name == task.name for name, task in TASKS.items())
    assert len({task.title for task in TASKS.values()}) == len({task.question for task in TASKS.values()}) == len(TASKS)


@pytest.mark.parametrize("name", TASKS)
def test_a_task_is_explained_and_its_defaults_make_data(name: str) -> None:
    task = TASKS[name]
    assert task.question.endswith(".")
    assert task.rule.startswith(("always answer", "answer"))
    assert {"task", "seed", "text"}.isdisjoint(task.defaults)
    assert set(task.defaults) <= {field.name for field in fields(Recipe)}
    recipe = Recipe(task=name, **task.defaults)
    data = make_data(recipe)
    assert data.task is task
    assert len(data.train) == recipe.n_train
    assert len(data.validation) == recipe.n_validation
    assert 0.04 < data.baseline < 0.6


@pytest.mark.parametrize("name", ["seq2seq-copy", "seq2seq-reverse"])
def test_a_decoder_s_simple_rule_may_answer_with_the_end(name: str) -> None:
    data = make_data(Recipe(task=name))
    commonest = int(data.train.targets[data.train.targets != IGNORE].bincount().argmax())
    assert data.labels[commonest] == "[EOS]"
    assert "[EOS]" in data.task.rule
