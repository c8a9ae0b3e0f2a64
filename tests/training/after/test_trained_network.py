"""What a run leaves behind: the same numbers after a file as before it, and no file that can do harm."""

import json
import time
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from functools import lru_cache
from typing import Any

import pytest
import safetensors.torch
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from playground.config import ModelConfig
from playground.errors import ConfigError, RecipeError, TooLargeError, WeightsError
from playground.training.after import file_metadata, trained_network
from playground.training.after.file_metadata import Results
from playground.training.after.trained_network import TrainedNetwork
from playground.training.network import Tagger, build_network
from playground.training.recipe import Recipe
from playground.training.tasks import TASKS
from playground.training.tasks.examples import IGNORE
from playground.training.trainer import Trainer
from playground.weights import encoder_half, read_metadata, recognise
from tests.test_oracles import FILES, read

CONFIG = ModelConfig(vocab_size=1, d_model=16, n_heads=2, n_layers=2, d_ff=24, max_len=20)
RECIPE = Recipe(steps=6, n_train=80, n_validation=16, batch_size=16, length=6, lr=0.01, warmup=2)
LIMIT = 1_000_000


def trainer(config: ModelConfig = CONFIG, **changes: Any) -> Trainer:
    """A run that has been run."""
    made = Trainer(config, replace(RECIPE, **changes))
    for _ in made.run():
        pass
    return made


@lru_cache
def trained(task: Any = "reverse") -> TrainedNetwork:
    return trained_network.from_trainer(trainer(task=task))


def load(data: bytes) -> TrainedNetwork:
    return trained_network.load(data, max_parameters=LIMIT)


def weights(network: torch.nn.Module) -> dict[str, Tensor]:
    return dict(network.state_dict())


def same(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


# --- what is kept of a run


@pytest.mark.parametrize("task", TASKS)
def test_a_file_brings_everything_back(task: str) -> None:
    before = trained(task)
    after = load(trained_network.save(before))
    assert same(weights(before.network), weights(after.network))
    assert (before.recipe, before.config, before.results) == (after.recipe, after.config, after.results)
    assert (before.labels, before.example, before.key) == (after.labels, after.example, after.key)
    batches = [each.tokenizer.encode_batch([before.example, "a ] 3 ñ"]) for each in (before, after)]
    assert torch.equal(batches[0].ids, batches[1].ids)
    assert type(after.network) is type(before.network)
    assert not after.network.training
    assert not any(parameter.requires_grad for parameter in after.network.parameters())


@pytest.mark.parametrize("task", ["reverse", "characters", "seq2seq-copy"])
@pytest.mark.parametrize(
    "changes",
    [
        {"positions": "learned", "norm": "rms", "fused_qkv": True, "final_norm": True, "n_segments": 2},
        {"positions": "none", "norm": "none", "activation": "silu"},
        {"positions": "sinusoidal-doubled", "norm": "scalar", "embedding_norm": True, "residual": False},
    ],
)
def test_every_architecture_comes_back(task: Any, changes: dict[str, Any]) -> None:
    before = trained_network.from_trainer(trainer(replace(CONFIG, **changes), task=task))
    after = load(trained_network.save(before))
    assert after.key == before.key
    ids = before.tokenizer.encode_batch([before.example]).ids
    assert torch.equal(before.encoder(ids), after.encoder(ids))


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
    kept = trained_network.from_trainer(trainer(replace(CONFIG, dropout=0.3), dropout_attention=0.5))
    drops = [module for module in kept.network.modules() if hasattr(module, "drops")]
    assert drops
    assert {module.p for module in drops} == {0.3}


def test_the_key_tells_networks_apart() -> None:
    keys = {
        trained_network.from_trainer(trainer(**changes)).key
        for changes in ({}, {"seed": 1}, {"steps": 5}, {"lr": 0.02}, {"task": "copy"})
    }
    assert len(keys) == 5
    kept = trained()
    assert kept.key == trained_network.from_trainer(trainer()).key
    assert kept.key.startswith("trained-")
    assert kept.initial_key == kept.key.replace("trained", "initial")


def test_bytes_are_those_of_the_weights_twice() -> None:
    n = sum(parameter.numel() for parameter in trained().network.parameters())
    assert trained().n_bytes == 2 * 4 * n


def test_the_file_is_an_ordinary_one() -> None:
    data = trained_network.save(trained())
    assert same(safetensors.torch.load(data), weights(trained().network))
    assert read_metadata(data).keys() == {"format", "recipe", "config", "results"}
    assert "head.weight" in safetensors.torch.load(data)


def test_a_visitors_own_text_travels_with_the_file() -> None:
    text = "so it goes, and so it went: çà et là. " * 20
    kept = trained_network.from_trainer(trainer(task="characters", text=text, length=10))
    after = load(trained_network.save(kept))
    assert after.recipe.text == text
    assert after.tokenizer.encode_batch(["çà x"]).unknown == [[False, False, False, True]]


# --- files that are not to be trusted


def forged(part: str = "recipe", tensors: dict[str, Tensor] | None = None, **changes: Any) -> bytes:
    """A file of the trained network in which something was changed by hand; a value of ... takes the setting away."""
    parts: dict[str, Any] = {
        name: asdict(getattr(trained(), name)) | (changes if name == part else {})
        for name in ("recipe", "config", "results")
    }
    parts = {name: {key: value for key, value in values.items() if value is not ...} for name, values in parts.items()}
    metadata = {"format": file_metadata.FORMAT, **{name: json.dumps(values) for name, values in parts.items()}}
    return safetensors.torch.save(weights(trained().network) if tensors is None else tensors, metadata)


def with_metadata(metadata: dict[str, str] | None) -> bytes:
    return safetensors.torch.save(weights(trained().network), metadata)


def changed(**tensors: Tensor | None) -> bytes:
    given = weights(trained().network) | {name.replace("__", "."): tensor for name, tensor in tensors.items()}
    return forged(tensors={name: tensor for name, tensor in given.items() if tensor is not None})


HUGE = 2**31 - 1
DESCRIBED = file_metadata.write(trained().recipe, trained().config, trained().results)

BAD: dict[str, tuple[Callable[[], bytes], str]] = {
    "nothing": (lambda: b"", "The file is empty"),
    "a pickle": (lambda: b"PK\x03\x04" + bytes(100), "This is a pickle"),
    "cut off": (lambda: trained_network.save(trained())[:-7], "the file is damaged"),
    "no metadata": (lambda: with_metadata(None), "was not saved by the Training page"),
    "another format": (lambda: with_metadata({**DESCRIBED, "format": "<b>2"}), "says that it is “b2”"),
    "no recipe": (lambda: with_metadata({"format": file_metadata.FORMAT}), "has no recipe"),
    "no JSON": (lambda: with_metadata({**DESCRIBED, "config": "{"}), "The file's config is not valid JSON"),
    "deep JSON": (lambda: with_metadata({**DESCRIBED, "recipe": "[" * 200_000}), "is not valid JSON"),
    "a huge number": (
        lambda: with_metadata({**DESCRIBED, "recipe": f'{{"lr": {"9" * 10_000}}}'}),
        "recipe is not valid JSON",
    ),
    "a list": (lambda: with_metadata({**DESCRIBED, "recipe": "[1]"}), "is not a list of settings"),
    "an unknown setting": (lambda: forged(colour="x"), "a setting “colour”, which is not known here"),
    "a missing setting": (lambda: forged(seed=...), "The file's recipe does not say seed"),
    "NaN": (lambda: forged(lr=float("nan")), "lr=“nan”, which is no setting"),
    "a nested value": (lambda: forged(steps={"a": 1}), "which is no setting"),
    "a long number": (lambda: forged(steps=10**300), "which is no setting"),
    "half a character": (lambda: forged(text="\ud800"), "The file's recipe holds half a character"),
    "half a character in a name": (
        lambda: with_metadata({**DESCRIBED, "recipe": '{"\\ud800": 1}'}),
        "The file's recipe holds half a character",
    ),
    "markup": (lambda: forged(task="[x](http://y) <b>"), "task=“xhttp//y b”, which is no setting"),
    "another type": (lambda: forged(steps="many"), "steps='many' is not a whole number"),
    "out of range": (lambda: forged(lr=1e9), "lr=1000000000.0 is not between"),
    "no task": (lambda: forged(task="juggle"), "task='juggle' is not a choice"),
    "a text too long": (lambda: forged(text="ab" * 20_000), "has 40,000 characters"),
    "a text too short": (lambda: forged(task="characters", text="ab"), "text='ab' has 2 characters"),
    "heads that do not divide": (lambda: forged("config", n_heads=3), "n_heads=3 does not divide d_model=16"),
    "too many layers": (lambda: forged("config", n_layers=HUGE), "2,147,483,647 layers and 20 positions"),
    "too many positions": (lambda: forged("config", max_len=HUGE), "2 layers and 2,147,483,647 positions"),
    "too wide": (lambda: forged("config", d_model=2**30), "This model has"),
    "another vocabulary": (lambda: forged("config", vocab_size=14), "makes a vocabulary of 13 tokens"),
    "other symbols": (lambda: forged(n_symbols=11), "makes a vocabulary of 14 tokens"),
    "norms that the recipe takes away": (lambda: forged(layer_norm=False), "13 tokens and no norms"),
    "more layers than it holds": (lambda: forged("config", n_layers=3), "parameters, and holds"),
    "another task": (lambda: forged(task="seq2seq-copy"), "makes a vocabulary of 15 tokens"),
    "a loss below 0": (
        lambda: forged("results", validation_loss=-1.0),
        "list of results makes no sense: validation_loss=-1.0",
    ),
    "an accuracy above 1": (
        lambda: forged("results", validation_accuracy=1.5),
        "validation_accuracy=1.5 is not between 0 and 1",
    ),
    "another outcome": (lambda: forged("results", outcome="perfect"), "outcome='perfect' is not a choice"),
    "a missing tensor": (
        lambda: changed(head__bias=None, extra=torch.zeros(13)),
        "head.bias is missing; the network needs it with shape (13,)",
    ),
    "another shape": (
        lambda: changed(head__bias=torch.zeros(1, 13)),
        "head.bias has shape (1, 13); the network needs (13,)",
    ),
    "an empty tensor too many": (lambda: changed(more=torch.zeros(0)), "more is not a part of this network"),
    "whole numbers": (lambda: changed(head__bias=torch.zeros(13, dtype=torch.int64)), "head.bias holds torch.int64"),
    "NaN in it": (lambda: changed(head__bias=torch.full((13,), torch.nan)), "head.bias holds NaN"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_refused_in_one_sentence_before_it_costs_anything(name: str) -> None:
    make, sentence = BAD[name]
    data = make()
    tracemalloc.start()
    started = time.perf_counter()
    with pytest.raises((WeightsError, RecipeError, TooLargeError)) as error:
        load(data)
    seconds, memory = time.perf_counter() - started, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sentence in str(error.value)
    assert len(str(error.value)) < 400
    assert "\n" not in str(error.value)
    assert not set(str(error.value)) & set("<>[]")
    assert seconds < 5
    assert memory < 20e6 + 20 * len(data)


def test_a_file_over_the_servers_limit_is_refused() -> None:
    for task, words in (("reverse", "This model has 4,128"), ("seq2seq-copy", "Both halves in this shape have 10,815")):
        data = trained_network.save(trained(task))
        n = sum(parameter.numel() for parameter in trained(task).network.parameters())
        with pytest.raises(TooLargeError, match=words):
            trained_network.load(data, max_parameters=n // 2 if task == "reverse" else n - 1)
        assert trained_network.load(data, max_parameters=n)


@given(st.data())
def test_whatever_is_wrong_with_a_file_nothing_but_a_value_error_comes_of_it(data: st.DataObject) -> None:
    original = trained_network.save(trained())
    header = int.from_bytes(original[:8], "little")
    place = data.draw(st.integers(0, header + 7))
    insert = data.draw(st.binary(max_size=3))
    broken = original[:place] + insert + original[place + data.draw(st.integers(0, 3)) :]
    with suppress(ValueError):
        assert weights(load(broken).network).keys() == weights(trained().network).keys()


def test_results_are_what_they_say_they_are() -> None:
    good = asdict(trained().results)
    assert Results(**good) == trained().results
    for wrong in (
        {"steps": 1.0}, {"steps": -1}, {"kept_step": True}, {"baseline": "1"}, {"baseline": 10**400}, {"outcome": ""},
        {"validation_loss": float("nan")}, {"validation_loss": float("inf")},
    ):  # fmt: skip
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            Results(**(good | wrong))


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
