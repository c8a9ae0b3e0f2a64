"""A training run's file takes the same steps as the trainer: the same losses, and in the end the same weights."""

from pathlib import Path
from typing import Any

import pytest
import torch

from playground import ModelConfig
from playground.export.code import export_training
from playground.training.recipe import Recipe
from playground.training.trainer import Trainer
from tests.export.code.written import complaints, run_here

TINY = ModelConfig(vocab_size=1, d_model=16, n_heads=2, n_layers=2, d_ff=24, max_len=32)
ALL_AT_ONCE: dict[str, Any] = {
    "dropout_attention": 0.1, "dropout_residual": 0.2, "weight_decay": 0.01, "label_smoothing": 0.1,
    "token_masking": 0.1, "clip": 0.5,
}  # fmt: skip

RUNS: list[dict[str, Any]] = [
    {},
    {"task": "copy", "schedule": "constant", "optimizer": "sgd"},
    {**ALL_AT_ONCE, "patience": 1, "lr": 0.05},
    {"task": "seq2seq-reverse", **ALL_AT_ONCE},
    {"distill": 0.5},
]


def recipe_of(fields: dict[str, Any]) -> Recipe:
    return Recipe(**{"steps": 24, "n_train": 256, "batch_size": 32, "n_validation": 32, "length": 8} | fields)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("fields", RUNS, ids=str)
def test_the_file_ends_with_the_trainers_weights(fields: dict[str, Any], tmp_path: Path) -> None:
    recipe = recipe_of(fields)
    code = export_training(TINY, recipe).python()
    (tmp_path / "run.py").write_text(code, encoding="utf-8")
    assert complaints(tmp_path / "run.py") == ""
    names = run_here(code)
    trainer = Trainer(TINY, recipe)
    for _ in trainer.run():
        pass
    assert names["trainer"].history.loss == trainer.history.loss
    for name, tensor in trainer.network.state_dict().items():
        assert torch.equal(names["trainer"].network.state_dict()[name], tensor), name
