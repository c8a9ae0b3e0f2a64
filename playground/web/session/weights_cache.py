"""Caches of what depends on weights: for everybody, or for one session if the weights are a visitor's own.

Whose weights are is part of their name's type, `WeightsId`, and so of every key that has one.
"""

import functools
from collections.abc import Callable, Hashable
from functools import partial
from typing import Concatenate, ParamSpec, Protocol, TypeVar

import streamlit as st
from cachetools.keys import hashkey
from streamlit.runtime.scriptrunner import get_script_run_ctx

from playground.errors import UnavailableError
from playground.link.state import EVERYBODY, Owner
from playground.web.session.result_cache import ResultCache
from playground.web.session.services import services

P = ParamSpec("P")
R = TypeVar("R")


class Owned(Protocol):
    """A key of results that belong to somebody."""

    def owner(self) -> Owner:
        """Return who may see the results."""

    def __hash__(self) -> int: ...


K = TypeVar("K", bound=Owned)

OWN = 8
"""Results of a function that a session keeps of its own weights: of both sides, and of a few other sentences."""

OF_ANOTHER = "These weights are of another session."


def this_session() -> Owner:
    """Return the session that asks."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context else "none"


def common_owner(*parts: Owned) -> Owner:
    """Return who may see all parts; raises `UnavailableError` if nobody may."""
    owners = {part.owner() for part in parts} - {EVERYBODY}
    if len(owners) > 1:
        raise UnavailableError(OF_ANOTHER)
    return owners.pop() if owners else EVERYBODY


def load_once(seconds: float | None = None) -> Callable[[Callable[[], R]], Callable[[], R]]:
    """Share what a function loads with all visitors; load it again after so many seconds."""
    return st.cache_resource(ttl=seconds, show_spinner=False)


def cache_for_everybody(max_entries: int | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Cache a function's results for all visitors: so many of them, or as many as the memory for results holds."""
    if max_entries is not None:
        return st.cache_resource(max_entries=max_entries, show_spinner=False)
    return _cache_in(lambda _: services().results)


def cache_in_session(max_entries: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Cache a function's latest results for the session that computed them."""
    return _cache_in(lambda function: _session_caches().setdefault(function, ResultCache(max_entries)))


def _cache_in(find_cache: Callable[[Callable[..., object]], ResultCache]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def find(*args: P.args, **kwargs: P.kwargs) -> R:
            key = hashkey(function, args, *kwargs.items())
            return find_cache(function).find(key, partial(function, *args, **kwargs))

        return find

    return decorate


def cache_by_weights(function: Callable[Concatenate[K, P], R]) -> Callable[Concatenate[K, P], R]:
    """Cache a function by its first argument, a `WeightsId` or a key that has one.

    Results of a visitor's own weights, a few of each function, stay in that session; all others are for everybody. The
    function raises `UnavailableError` in another session.
    """

    @functools.wraps(function)
    def find(first: K, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return keep(function, (first, args, *kwargs.items()), first.owner(), partial(function, first, *args, **kwargs))

    return find


def keep(function: Callable[..., object], key: Hashable, owner: Owner, compute: Callable[[], R]) -> R:
    """Return what a function computes of a key, kept for its owner; raises `UnavailableError` for another session."""
    if owner not in (EVERYBODY, this_session()):
        raise UnavailableError(OF_ANOTHER)
    own = services().results if owner == EVERYBODY else _session_caches().setdefault(function, ResultCache(OWN))
    return own.find(hashkey(function, key), compute)


@st.cache_resource(scope="session", max_entries=1, show_spinner=False)
def _session_caches() -> dict[Callable[..., object], ResultCache]:
    return {}


def clear_session_caches() -> None:
    """Free what was computed with this session's own weights."""
    _session_caches().clear()
