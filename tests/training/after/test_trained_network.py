"""What a run leaves behind: the same numbers after a file as before it."""

from dataclasses import asdict, replace
from itertools import product
from typing import Any

import pytest
import safetensors.torch
import torch
from torch import Tensor

from playground.training.after import trained_network
from playground.training.network import Tagger, build_network
from playground.training.tasks import TASKS
from playground.training.tasks.examples import IGNORE
from playground.training.trainer import Trainer
from playground.weights import encoder_half, read_metadata, recognise
from tests.test_oracles import FILES, read
from tests.training.after.trained import CONFIG, RECIPE, load, trained, weights
from tests.training.tiny import train


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
    assert type(after.network) is type(before.network)
    assert not after.network.training
    assert not any(parameter.requires_grad for parameter in after.network.parameters())


@pytest.mark.parametrize("outcome", ["finished", "cancelled"])
def test_the_results_are_those_of_the_weights(outcome: str) -> None:
    run = Trainer(CONFIG, replace(RECIPE, task="sort"), watch=outcome == "finished")
    for step in run.run():
        if outcome == "cancelled" and step == 3:
            break
    kept, examples = trained_network.from_trainer(run), run.data.validation
    assert not kept.network.training
    asked = examples.targets != IGNORE
    logits, targets = kept.network(examples.ids, examples.mask)[asked], examples.targets[asked]
    accuracy = (logits.argmax(-1) == targets).double().mean().item()
    loss = torch.nn.functional.cross_entropy(logits, targets).item()
    n_steps = 6 if outcome == "finished" else 3
    assert asdict(kept.results) == {
        "outcome": outcome,
        "steps": n_steps,
        "kept_step": n_steps,
        "baseline": run.data.baseline,
        "validation_loss": pytest.approx(loss, abs=1e-5),
        "validation_accuracy": pytest.approx(accuracy, abs=1e-12),
    }


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
    assert kept.key == trained_network.from_trainer(train(RECIPE, CONFIG)).key
    assert kept.key.startswith("trained-")
    assert kept.initial_key == kept.key.replace("trained", "initial")


def test_bytes_are_those_of_the_weights_twice() -> None:
    n = sum(parameter.numel() for parameter in trained().network.parameters())
    assert trained().n_bytes == 2 * 4 * n


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


def test_the_encoder_of_a_pair_is_its_first_half() -> None:
    pair = trained("seq2seq-copy")
    assert pair.task is TASKS["seq2seq-copy"]
    assert pair.encoder is pair.network.encoder
    assert isinstance(trained().network, Tagger)
    assert trained("characters").task is TASKS["characters"]
