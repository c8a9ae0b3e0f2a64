"""`load("english")`: what is shipped or stored is loaded, what is not is trained once, and what can't be is refused."""

import logging
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from playground.errors import ConfigError
from playground.language import CAPABILITIES, learner
from playground.language.family import change
from playground.pretrained import load
from playground.weights.store import NetworkStore

TINY: dict[str, Any] = {"n_layers": 1, "d_model": 16, "positions": "none", "seed": 987}


@pytest.fixture(autouse=True)
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NetworkStore:
    """An empty store, and a short training."""
    monkeypatch.setenv("PLAYGROUND_NETWORKS", str(tmp_path))
    monkeypatch.setattr(learner, "N_SENTENCES", 500)
    monkeypatch.setattr(learner, "Learner", partial(learner.Learner, steps=40))
    return NetworkStore(tmp_path)


@pytest.mark.long
def test_what_is_nowhere_is_trained_once(
    stored: NetworkStore, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with caplog.at_level(logging.INFO):
        network, tokenizer = load("english", **TINY)
    assert "40 of 40 steps" in caplog.text
    assert len(caplog.records) == 11
    assert network.spec == change(**TINY)
    assert network.encoder.config.n_heads == 4
    assert network.shares.keys() == CAPABILITIES.keys()
    assert len(network.predict("the keys near the old box [MASK] rusty .")) == 5
    assert tokenizer.vocab_size == network.encoder.config.vocab_size
    assert stored.path(network.spec.key).is_file()
    monkeypatch.setattr(learner, "Learner", None)
    again, _ = load("english", **TINY)
    assert torch.equal(again.network.head.weight, network.network.head.weight)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_layer": 1}, "n_layer=1 is not a setting; n_layers"),
        ({"n_heads": 5}, "n_heads=5 does not divide d_model=64"),
        ({"d_model": 1}, "rotary positions turn pairs"),
        ({"vocab_size": 9}, "vocab_size=9 is not the number of words"),
        ({"max_len": 8}, "max_len=8 is shorter than the longest sentence; 48 would work"),
        ({"n_layers": 10**9}, "n_layers=1000000000 is more than are trained here"),
        ({"causal": 1}, "causal=1 is not a switch"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        load("english", **settings)
    assert str(raised.value).startswith(message) or message in str(raised.value)
