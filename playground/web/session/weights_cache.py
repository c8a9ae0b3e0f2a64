"""Caches of what depends on weights: for everybody, or for one session where the weights are a visitor's own.

Whose weights are is part of their name's type, `WeightsId`, and so of every key that has one.
"""

import functools
import math
from collections.abc import Callable, Hashable
from functools import partial
from typing import Concatenate, ParamSpec, Protocol, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from playground.errors import UnavailableError
from playground.link.state import EVERYBODY, Owner, WeightsId
from playground.web.session.result_cache import CacheKey, FunctionCaches, ResultCache
from playground.web.session.services import services

P = ParamSpec("P")
R = TypeVar("R")


class Owned(Protocol):
    """What results are cached by, and belongs to somebody; it can be hashed."""

    def owner(self) -> Owner:
        """Who may see the results."""
        ...

    def __hash__(self) -> int: ...


K = TypeVar("K", bound=Owned)

OF_ANOTHER = "These weights are of another session."


TRANSLATOR = WeightsId("translator", EVERYBODY)
"""What `State.weights` would call the shipped translator's weights, and `TextKey.tokenizer` its tokenizer."""


def this_session() -> Owner:
    """The session that asks."""
    context = get_script_run_ctx(suppress_warning=True)
    return Owner(context.session_id if context else "none")


def common_owner(*parts: Owned) -> Owner:
    """Who may see what is computed of several; raises UnavailableError where nobody may see them all."""
    owners = {part.owner() for part in parts} - {EVERYBODY}
    if len(owners) > 1:
        raise UnavailableError(OF_ANOTHER)
    return owners.pop() if owners else EVERYBODY


def cache_in_session(max_entries: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator that caches results for the session that computed them, until its connection ends."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def find(*args: P.args, **kwargs: P.kwargs) -> R:
            return _find(_session_caches().of(function, max_entries), this_session(), function, *args, **kwargs)

        return find

    return decorate


def cache_for_everybody(max_entries: int | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator that caches results for all visitors, until nobody has been here for a while.

    Args:
        max_entries: how many; None: as many as the memory for results holds.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def find(*args: P.args, **kwargs: P.kwargs) -> R:
            here = services()
            cache = here.results if max_entries is None else here.few_results.of(function, max_entries)
            return _find(cache, EVERYBODY, function, *args, **kwargs)

        return find

    return decorate


def load_once(seconds: float = math.inf) -> Callable[[Callable[[], R]], Callable[[], R]]:
    """Decorator for what all visitors share as long as the server runs; it is loaded anew after so many seconds."""

    def decorate(function: Callable[[], R]) -> Callable[[], R]:
        @functools.wraps(function)
        def find() -> R:
            return services().loaded.of(function, 1, seconds).find(CacheKey(function, ()), function)

        return find

    return decorate


def cache_by_weights(function: Callable[Concatenate[K, P], R]) -> Callable[Concatenate[K, P], R]:
    """Decorator for a function whose first argument says whose its results are: a `WeightsId`, or a key that has one.

    Results of the checkpoint, of the shipped translator and of random weights are cached for everybody; those of an
    upload or a trained network, two in its session alone: of the present settings and of the pinned ones. The decorated
    function raises UnavailableError where that is another session.
    """

    @functools.wraps(function)
    def find(first: K, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return keep(function, (first, args, *kwargs.items()), first.owner(), partial(function, first, *args, **kwargs))

    return find


def keep(function: Callable[..., object], key: Hashable, owner: Owner, compute: Callable[[], R]) -> R:
    """What a function computes of a key, whose owner it is for; raises UnavailableError for another session."""
    if owner not in (EVERYBODY, this_session()):
        raise UnavailableError(OF_ANOTHER)
    cache = services().results if owner == EVERYBODY else _session_caches().of(function, 2)
    return cache.find(CacheKey(function, key, owner), compute)


def _find(cache: ResultCache, owner: Owner, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """A function's result of these arguments, from the cache once it is there."""
    return cache.find(CacheKey(function, (args, *kwargs.items()), owner), partial(function, *args, **kwargs))


def clear_session_caches() -> None:
    """Free what was computed with this session's upload and trained network, and their models."""
    _session_caches().clear()


@st.cache_resource(scope="session", max_entries=1, show_spinner=False)
def _session_caches() -> FunctionCaches:
    return FunctionCaches()
