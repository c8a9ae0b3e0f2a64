"""Caches of what depends on weights: for everybody, or for one session where the weights are a visitor's own."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import streamlit as st

from playground.web.server.settings import settings
from playground.web.session.sized_cache import SizedCache

P = ParamSpec("P")
R = TypeVar("R")

TRANSLATOR = "translator"
"""What `Setup.weights` would call the shipped translator's weights, and `TextKey.tokenizer` its tokenizer."""

RESULTS = SizedCache(settings().max_cached_results)
"""What was computed with weights that everybody may use."""

_EVERYBODYS = frozenset({"minilm", "random", TRANSLATOR})

_session_caches: list[Any] = []
"""Every cache for one session alone."""

_shared_caches: list[Any] = [RESULTS]
"""Every cache of what visitors computed, for everybody."""


def least_shared(*weights: str) -> str:
    """Of several weights, one that is a session's own, if any: what depends on all of them is that session's too."""
    return next((each for each in weights if each not in _EVERYBODYS), weights[0])


def cache_in_session(max_entries: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator that caches results for the session that computed them."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        cached = st.cache_resource(max_entries=max_entries, show_spinner=False, scope="session")(function)
        _session_caches.append(cached)
        return cached

    return decorate


def cache_for_everybody(max_entries: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator that caches results for all visitors, until nobody has been here for a while."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        cached = st.cache_resource(max_entries=max_entries, show_spinner=False)(function)
        _shared_caches.append(cached)
        return cached

    return decorate


def cache_by_weights(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator for a function of `weights`, or of a `key` that names them.

    Results of the checkpoint, of the shipped translator and of random weights are cached for everybody, in `RESULTS`;
    of uploads and trained networks, two in the session alone: of the present settings and of the pinned ones.
    """
    signature = inspect.signature(function)
    shared = RESULTS(function)
    private = cache_in_session(max_entries=2)(function)

    @functools.wraps(function)
    def cached(*args: P.args, **kwargs: P.kwargs) -> R:
        arguments = signature.bind(*args, **kwargs).arguments
        weights = arguments["key"].weights if "key" in arguments else arguments["weights"]
        return (shared if weights in _EVERYBODYS else private)(*args, **kwargs)

    return cached


def clear_session_caches() -> None:
    """Free what was computed with this session's upload and trained network, and their models."""
    for cache in _session_caches:
        cache.clear()


def clear_shared_caches() -> None:
    """Free what visitors computed with weights that everybody may use."""
    for cache in _shared_caches:
        cache.clear()
