"""What a run leaves behind: the same numbers after a file as before it."""

from dataclasses import asdict, replace
from itertools import product
from typing import Any

import pytest
import safetensors.torch
import torch
from torch import Tensor

from playground.model import EncoderDecoder
from playground.training.after import trained_network
from playground.training.after.trained_network import Results
from playground.training.evaluation import evaluate
from playground.training.network import Tagger, build_network
from playground.training.tasks import TASKS
from playground.training.trainer import Trainer
from playground.weights import encoder_half, read_metadata, recognise
from tests.test_oracles import FILES, read
from tests.training.after.trained import CONFIG, RECIPE, load, trained, trainer, weights
from tests.training.tiny import CPU


def same(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize(
    ("task", "changes"),
    [
        *((task, {}) for task in TASKS),
        *product(
            ("reverse", "characters", "seq2seq-copy"),
            (
                {"positions": "learned", "norm": "rms", "fused_qkv": True, "final_norm": True, "n_segments": 2},
                {"positions": "none", "norm": "none", "activation": "silu"},
                {"positions": "sinusoidal-doubled", "norm": "scalar", "embedding_norm": True, "residual": False},
            ),
        ),
    ],
)
def test_a_file_brings_everything_back(task: str, changes: dict[str, Any]) -> None:
    before = trained(task, replace(CONFIG, **changes))
    data = trained_network.save(before)
    after = load(data)
    assert same(weights(before.network), weights(after.network))
    assert same(weights(before.network), safetensors.torch.load(data))
    assert read_metadata(data).keys() == {"format", "recipe", "config", "results"}
    for name in ("recipe", "config", "results", "labels", "example", "key"):
        assert getattr(before, name) == getattr(after, name)
    batches = [each.tokenizer.encode_batch([before.example, "a ] 3 ñ"]) for each in (before, after)]
    assert torch.equal(batches[0].ids, batches[1].ids)
    assert torch.equal(before.encoder(batches[0].ids), after.encoder(batches[1].ids))
    assert type(after.network) is type(before.network) is (EncoderDecoder if "seq2seq" in task else Tagger)
    assert after.task is before.task is TASKS[task]
    assert after.encoder is after.network.encoder
    assert not after.network.training
    assert not any(parameter.requires_grad for parameter in after.network.parameters())


@pytest.mark.parametrize(("outcome", "n_steps"), [("finished", 6), ("cancelled", 3)])
def test_the_results_are_those_of_the_weights(outcome: Any, n_steps: int) -> None:
    run = Trainer(CONFIG, replace(RECIPE, task="sort"), watch=outcome == "finished")
    for step in run.run():
        if step == n_steps < RECIPE.steps:
            break
    kept = trained_network.from_trainer(run)
    measure = evaluate(kept.network, run.data.validation, run.recipe, CPU)
    assert not kept.network.training
    assert kept.results == Results(outcome, n_steps, n_steps, run.data.baseline, measure.loss, measure.accuracy)


def test_a_run_that_goes_on_leaves_what_was_kept_alone() -> None:
    run = Trainer(CONFIG, RECIPE)
    steps = run.run()
    next(steps)
    kept = trained_network.from_trainer(run)
    before = {name: tensor.clone() for name, tensor in weights(kept.network).items()}
    next(steps)
    assert same(before, weights(kept.network))
    assert not same(before, weights(run.network))
    assert all(parameter.requires_grad for parameter in run.network.parameters())


@pytest.mark.parametrize("task", ["reverse", "seq2seq-reverse"])
def test_the_initial_network_is_the_one_that_training_began_with(task: Any) -> None:
    kept = trained(task)
    fresh = build_network(kept.config, kept.task, len(kept.labels), kept.recipe.seed)
    assert same(weights(kept.initial()), weights(fresh))
    assert not same(weights(kept.initial()), weights(kept.network))
    assert not any(parameter.requires_grad for parameter in kept.initial().parameters())


def test_dropout_while_training_leaves_the_architectures_own_behind() -> None:
    kept = trained(config=replace(CONFIG, dropout=0.3), dropout_attention=0.5)
    drops = [module for module in kept.network.modules() if hasattr(module, "drops")]
    assert drops
    assert {module.p for module in drops} == {0.3}


def test_the_key_tells_networks_apart() -> None:
    changes: list[dict[str, Any]] = [{}, {"seed": 1}, {"steps": 5}, {"lr": 0.02}, {"task": "copy"}]
    assert len({trained(**change).key for change in changes}) == 5
    kept = trained()
    assert kept.key == trained_network.from_trainer(trainer()).key
    assert kept.key.startswith("trained-")
    assert kept.n_bytes == 2 * 4 * sum(parameter.numel() for parameter in kept.network.parameters())
    assert kept.initial_key == kept.key.replace("trained", "initial")


def test_a_visitors_own_text_travels_with_the_file() -> None:
    text = "so it goes, and so it went: çà et là. " * 20
    after = load(trained_network.save(trained("characters", text=text, length=10)))
    assert after.recipe.text == text
    assert after.tokenizer.encode_batch(["çà x"]).unknown == [[False, False, False, True]]


@pytest.mark.parametrize("task", ["reverse", "seq2seq-copy"])
def test_its_encoder_is_found_in_its_tensors(task: Any) -> None:
    half = encoder_half(weights(trained(task).network))
    assert same(half, weights(trained(task).encoder))
    found = recognise({name: tuple(tensor.shape) for name, tensor in half.items()})
    own = {name: value for name, value in found.settings.items() if name in asdict(CONFIG)}
    assert own == {name: getattr(trained(task).config, name) for name in own}


@pytest.mark.parametrize("tutorial", FILES)
def test_other_models_are_taken_as_they_are(tutorial: str) -> None:
    theirs = read(FILES[tutorial]).weights
    assert encoder_half(theirs) == theirs
