"""Whose cache a result belongs to, by the types of its keys; two visitors never share what is of one of them."""

import copy
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from types import SimpleNamespace
from typing import NamedTuple

import pytest

from playground.config import ModelConfig
from playground.errors import UnavailableError
from playground.web.choices.setup import setup_of
from playground.web.session import caches, uploads, weights_cache
from playground.web.session.uploads import UploadedWeights
from playground.web.session.weights_cache import (
    EVERYBODY,
    MINILM,
    RANDOM,
    TRANSLATOR,
    Owner,
    WeightsId,
    cache_by_weights,
    this_session,
)  # fmt: skip
from tests.link.test_params import DEFAULTS


class Key(NamedTuple):
    place: int
    model: WeightsId  # whatever it is called

    def owner(self) -> Owner:
        return self.model.owner()


class Sessions:
    """Visitors, of whom one asks at a time; each has what Streamlit would keep in that session's cache."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asking = ""
        self.cached: dict[tuple[str, object], object] = {}
        context = lambda **_: SimpleNamespace(session_id=self.asking)  # noqa: E731
        monkeypatch.setattr(weights_cache, "get_script_run_ctx", context)
        monkeypatch.setattr(weights_cache, "cache_in_session", self._cache)

    @contextmanager
    def of(self, name: str) -> Iterator[Owner]:
        self.asking = name
        yield this_session()

    def _cache(self, max_entries: int) -> Callable[..., Callable[..., object]]:
        assert max_entries == 2

        def decorate(function: Callable[..., object]) -> Callable[..., object]:
            def cached(*args: object) -> object:
                key = (self.asking, (function.__qualname__, *args))
                if key not in self.cached:
                    self.cached[key] = function(*args)
                return self.cached[key]

            return cached

        return decorate


@pytest.fixture
def sessions(monkeypatch: pytest.MonkeyPatch) -> Sessions:
    return Sessions(monkeypatch)


def test_two_visitors_uploads_of_one_name_are_never_mixed(sessions: Sessions) -> None:
    computed = count()

    @cache_by_weights
    def compute(things: Key, factor: int) -> int:
        return next(computed)

    @cache_by_weights
    def compare(factor: int, one: Key, other: WeightsId) -> int:
        return next(computed)

    ids: dict[str, WeightsId] = {}
    found: dict[str, list[int]] = {}
    for name in ("Ann", "Bob"):
        with sessions.of(name) as owner:
            ids[name] = WeightsId("model.safetensors", owner)
            key = Key(1, ids[name])
            found[name] = [compute(key, 2), compare(3, Key(1, RANDOM), ids[name]), compare(3, key, RANDOM)]
            assert found[name] == [compute(key, 2), compare(3, Key(1, RANDOM), ids[name]), compare(3, key, RANDOM)]
    assert ids["Ann"] == ids["Bob"], "caches would take one for the other"
    assert set(found["Ann"]).isdisjoint(found["Bob"])
    with sessions.of("Bob"), pytest.raises(UnavailableError):
        compute(Key(1, ids["Ann"]), 2)
    with sessions.of("Bob"), pytest.raises(UnavailableError):
        compare(3, Key(1, RANDOM), ids["Ann"])


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


def test_a_function_whose_arguments_have_no_owner_is_refused_whatever_they_are_called() -> None:
    def names_alone(key: tuple[int, str], weights: str) -> int:
        return 0

    def untyped(key, weights):  # type: ignore[no-untyped-def]
        return 0

    for function in (names_alone, untyped):
        with pytest.raises(TypeError, match="whose weights"):
            cache_by_weights(function)


def test_a_setup_says_whose_its_weights_are(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    upload = UploadedWeights("model.safetensors", "0f3a", {}, None, None)  # type: ignore[arg-type]
    monkeypatch.setattr("playground.web.choices.setup.own_weights", lambda choice: upload if choice == "mine" else None)
    monkeypatch.setattr(uploads, "own_tokenizer_key", lambda: "")
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
