"""What a run leaves behind: the same numbers after a file as before it; no file can do harm."""

import json
import time
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

import pytest
import safetensors.torch
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from playground.errors import RecipeError, TooLargeError, WeightsError
from playground.model import EncoderDecoder
from playground.training import trained_network
from playground.training.network import Tagger, build_network, evaluate
from playground.training.tasks import TASKS
from playground.training.trained_network import Results
from playground.training.trainer import Trainer
from playground.weights import read_metadata
from tests.training.tiny import CPU
from tests.training.trained import CONFIG, RECIPE, load, trained, trainer, weights


def same(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("task", "changes"),
    [
        *((task, {}) for task in TASKS),
        ("reverse", {"positions": "learned", "norm": "rms", "fused_qkv": True, "final_norm": True, "n_segments": 2}),
        ("characters", {"positions": "none", "norm": "none", "activation": "silu"}),
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
    assert type(after.network) is type(before.network) is (EncoderDecoder if "seq2seq" in task else Tagger)
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


@pytest.mark.parametrize("task", ["reverse", "seq2seq-reverse"])
def test_the_initial_network_is_the_one_that_training_began_with(task: Any) -> None:
    kept = trained(task)
    fresh = build_network(kept.config, kept.task, len(kept.labels), kept.recipe.seed)
    assert same(weights(kept.initial()), weights(fresh))
    assert not same(weights(kept.initial()), weights(kept.network))
    assert not any(parameter.requires_grad for parameter in kept.initial().parameters())


def test_the_key_tells_networks_apart() -> None:
    changes: list[dict[str, Any]] = [{}, {"seed": 1}, {"steps": 5}, {"lr": 0.02}, {"task": "copy"}]
    assert len({trained(**change).key for change in changes}) == 5
    kept = trained()
    assert kept.key == trained_network.from_trainer(trainer()).key
    assert kept.initial_key == kept.key.replace("trained", "initial")


def forged(part: str = "recipe", tensors: dict[str, Tensor] | None = None, **changes: Any) -> bytes:
    """A file of the trained network in which something was changed by hand; a value of ... takes the setting away."""
    parts: dict[str, Any] = {
        name: asdict(getattr(trained(), name)) | (changes if name == part else {})
        for name in ("recipe", "config", "results")
    }
    parts = {name: {key: value for key, value in values.items() if value is not ...} for name, values in parts.items()}
    metadata = {"format": trained_network.FORMAT, **{name: json.dumps(values) for name, values in parts.items()}}
    return safetensors.torch.save(weights(trained().network) if tensors is None else tensors, metadata)


def described(**changes: str) -> bytes:
    """A file whose metadata was changed by hand."""
    return safetensors.torch.save(weights(trained().network), read_metadata(trained_network.save(trained())) | changes)


def changed(**tensors: Tensor | None) -> bytes:
    """A file whose tensors were changed by hand."""
    given = weights(trained().network) | {name.replace("__", "."): tensor for name, tensor in tensors.items()}
    return forged(tensors={name: tensor for name, tensor in given.items() if tensor is not None})


HUGE = 2**31 - 1

BAD: list[tuple[str, Callable[[], bytes]]] = [
    ("no safetensors file", lambda: b""),
    ("is a pickle", lambda: b"PK\x03\x04" + bytes(100)),
    ("The file is damaged", lambda: trained_network.save(trained())[:-7]),
    ("was not saved by the Training page", lambda: safetensors.torch.save(weights(trained().network))),
    ("was not saved by the Training page", lambda: described(format="<b>2")),
    ("recipe is damaged", lambda: described(recipe="[" * 200_000)),
    ("results is damaged", lambda: forged("results", steps=...)),
    ("recipe is damaged", lambda: forged(lr=float("nan"))),
    ("recipe is damaged", lambda: described(recipe='{"\\ud800": 1}')),
    ("recipe is damaged", lambda: forged(task="[x](http://y) <b>")),
    ("task='juggle' is not a choice", lambda: forged(task="juggle")),
    ("n_heads=3 does not divide d_model=16", lambda: forged("config", n_heads=3)),
    ("2,147,483,647 layers and 20 positions", lambda: forged("config", n_layers=HUGE)),
    ("This model has", lambda: forged("config", d_model=2**30)),
    ("another vocabulary or other norms", lambda: forged(task="seq2seq-copy")),
    ("the network needs", lambda: forged("config", n_layers=3)),
    ("results makes no sense", lambda: forged("results", validation_loss=-1.0)),
    ("head.bias is missing; the network needs", lambda: changed(head__bias=None, extra=torch.zeros(13))),
    ("head.bias holds NaN", lambda: changed(head__bias=torch.full((13,), torch.nan))),
]


@pytest.mark.parametrize(("words", "make"), BAD)
def test_a_bad_file_is_refused_in_one_sentence_before_it_costs_anything(words: str, make: Callable[[], bytes]) -> None:
    data = make()
    tracemalloc.start()
    started = time.perf_counter()
    with pytest.raises((WeightsError, RecipeError, TooLargeError)) as error:
        load(data)
    seconds, memory = time.perf_counter() - started, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert words in str(error.value)
    assert len(str(error.value)) < 400
    assert not set(str(error.value)) & set("<>[]\n")
    assert seconds < 5
    assert memory < 20e6 + 20 * len(data)


def test_a_file_over_the_servers_limit_is_refused() -> None:
    for task, words in (("reverse", "This model has 4,128"), ("seq2seq-copy", "This model has 10,815")):
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


def test_a_file_may_name_what_recipes_once_had_if_it_was_off() -> None:
    off: dict[str, Any] = {"noise": 0.0, "token_swapping": 0.0}
    assert load(forged("recipe", **off)).recipe == trained().recipe
    with pytest.raises(WeightsError, match="damaged"):
        load(forged("recipe", noise=0.3))


def test_a_file_of_the_first_format_has_no_initial_weights_to_draw() -> None:
    old = load(described(format=trained_network.OTHER_WEIGHTS[0]))
    assert not old.has_initial
    assert old.key == trained().key
    assert load(trained_network.save(old)).has_initial is old.has_initial
    assert load(trained_network.save(trained())).has_initial
