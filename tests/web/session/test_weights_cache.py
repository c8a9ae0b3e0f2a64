"""Whose cache a result belongs to, by the types of its keys; two visitors never share what is of one of them."""

import copy
import pickle
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from types import SimpleNamespace
from typing import NamedTuple

import pytest

from playground.config import ModelConfig
from playground.errors import UnavailableError
from playground.web.choices.setup import setup_of
from playground.web.session import caches, uploaded_files, weights_cache
from playground.web.session.result_cache import EVERYBODY, FunctionCaches, Owner
from playground.web.session.services import other_services
from playground.web.session.uploaded_files import UploadedWeights
from playground.web.session.weights_cache import (
    MINILM,
    RANDOM,
    TRANSLATOR,
    WeightsId,
    cache_by_weights,
    cache_for_everybody,
    common_owner,
    this_session,
)  # fmt: skip
from tests.link.test_params import DEFAULTS


class Key(NamedTuple):
    place: int
    model: WeightsId

    def owner(self) -> Owner:
        return self.model.owner()


class Both(NamedTuple):
    one: WeightsId
    other: WeightsId

    def owner(self) -> Owner:
        return common_owner(*self)


class Sessions:
    """Visitors, of whom one asks at a time; each has what Streamlit would keep in that session's cache."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asking = ""
        self.caches: defaultdict[str, FunctionCaches] = defaultdict(FunctionCaches)
        context = lambda **_: SimpleNamespace(session_id=self.asking)  # noqa: E731
        monkeypatch.setattr(weights_cache, "get_script_run_ctx", context)
        monkeypatch.setattr(weights_cache, "_session_caches", lambda: self.caches[self.asking])

    @contextmanager
    def of(self, name: str) -> Iterator[Owner]:
        self.asking = name
        yield this_session()


@pytest.fixture
def sessions(monkeypatch: pytest.MonkeyPatch) -> Sessions:
    return Sessions(monkeypatch)


def test_two_visitors_uploads_of_one_name_are_never_mixed(sessions: Sessions) -> None:
    computed = count()

    @cache_by_weights
    def compute(things: Key, factor: int) -> int:
        return next(computed)

    @cache_by_weights
    def compare(things: Both) -> int:
        return next(computed)

    ids: dict[str, WeightsId] = {}
    found: dict[str, list[int]] = {}
    for name in ("Ann", "Bob"):
        with sessions.of(name) as owner:
            mine = ids[name] = WeightsId("model.safetensors", owner)
            for _ in range(2):
                found[name] = [compute(Key(1, mine), 2), compare(Both(RANDOM, mine)), compare(Both(mine, RANDOM))]
    assert found == {"Ann": [0, 1, 2], "Bob": [3, 4, 5]}
    assert ids["Ann"] == ids["Bob"], "caches would take one for the other"
    with sessions.of("Bob"):
        for weights in (Both(RANDOM, ids["Ann"]), Both(ids["Bob"], ids["Ann"])):
            with pytest.raises(UnavailableError):
                compare(weights)
        with pytest.raises(UnavailableError):
            compute(Key(1, ids["Ann"]), 2)


@pytest.mark.parametrize("weights", [MINILM, RANDOM, TRANSLATOR])
def test_what_is_everybodys_is_computed_once_for_all(sessions: Sessions, weights: WeightsId) -> None:
    computed = count()

    @cache_by_weights
    def compute(things: Key) -> int:
        return next(computed)

    seen = set()
    for name in ("Ann", "Bob"):
        with sessions.of(name):
            seen.add(compute(Key(2, weights)))
    assert (weights.owner(), len(seen)) == (EVERYBODY, 1)


def test_services_of_their_own_have_caches_of_their_own(sessions: Sessions) -> None:
    @cache_for_everybody(max_entries=1)
    def compute() -> object:
        return object()

    before = compute()
    with other_services(few_results=FunctionCaches()):
        assert compute() is not before
    assert compute() is before


def test_a_setup_says_whose_its_weights_are(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    upload = UploadedWeights("model.safetensors", "0f3a", {}, None, None)  # type: ignore[arg-type]
    monkeypatch.setattr("playground.web.choices.setup.own_weights", lambda choice: upload if choice == "mine" else None)
    monkeypatch.setattr(uploaded_files, "own_tokenizer_key", lambda: "")
    with sessions.of("Ann") as ann:
        owners = {choice: setup_of(DEFAULTS | {"weights": choice}).weights.owner() for choice in ("minilm", "random")}
        mine = setup_of(DEFAULTS | {"weights": "mine"}).weights
    assert set(owners.values()) == {EVERYBODY}
    assert (mine, mine.owner()) == ("0f3a", ann)
    text = caches.TextKey("char", 0, 8, ("ab",))
    with sessions.of("Bob"), pytest.raises(UnavailableError):
        caches.run_sentence(caches.RunKey(text, 0, mine, ModelConfig(vocab_size=9), 0, causal=False))
    for copied in (copy.deepcopy(mine), pickle.loads(pickle.dumps(mine))):
        assert (copied, copied.owner()) == (mine, ann)
