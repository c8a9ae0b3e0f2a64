"""Caches of what depends on weights: for everybody, or for one session where the weights are a visitor's own.

Whose weights are is part of their name's type, `WeightsId`, and so of every key that has one.
"""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ParamSpec, Protocol, TypeVar, get_type_hints, runtime_checkable

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from playground.errors import UnavailableError
from playground.web.server.settings import settings
from playground.web.session.random_weights import SizedCache

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Owner:
    """Who may see what weights compute."""

    session: str | None
    """Streamlit's id of the only session; None: everybody."""


EVERYBODY = Owner(None)


@runtime_checkable
class Owned(Protocol):
    """What results are cached by, and belongs to somebody."""

    def owner(self) -> Owner:
        """Who may see the results."""
        ...


class WeightsId(str):
    """What caches know weights by, with their owner; as a string it is the name alone."""

    __slots__ = ("_owner",)
    _owner: Owner

    def __new__(cls, name: str, owner: Owner) -> "WeightsId":  # noqa: D102
        made = super().__new__(cls, name)
        made._owner = owner
        return made

    def __reduce__(self) -> tuple[type["WeightsId"], tuple[str, Owner]]:
        return WeightsId, (str(self), self._owner)

    def owner(self) -> Owner:
        """Whose weights they are."""
        return self._owner


MINILM = WeightsId("minilm", EVERYBODY)
RANDOM = WeightsId("random", EVERYBODY)
TRANSLATOR = WeightsId("translator", EVERYBODY)
"""What `Setup.weights` would call the shipped translator's weights, and `TextKey.tokenizer` its tokenizer."""

RESULTS = SizedCache(settings().max_cached_results)
"""What was computed with weights that everybody may use."""

_session_caches: list[Any] = []
"""Every cache for one session alone."""

_shared_caches: list[Any] = [RESULTS]
"""Every cache of what visitors computed, for everybody."""


def this_session() -> Owner:
    """The session that asks."""
    context = get_script_run_ctx(suppress_warning=True)
    return Owner(context.session_id if context else "none")


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
    """Decorator for a function of which an argument, by its type, is `Owned`: a `WeightsId`, or a key that has one.

    Results of the checkpoint, of the shipped translator and of random weights are cached for everybody, in `RESULTS`;
    where any of the arguments is of an upload or a trained network, two in its session alone: of the present settings
    and of the pinned ones. The decorated function raises UnavailableError where that is another session.

    Raises:
        TypeError: by its types, no argument of the function says whose its results are.
    """
    signature, types = inspect.signature(function), get_type_hints(function)
    owned = [name for name in signature.parameters if _is_owned(types.get(name))]
    if not owned:
        raise TypeError(f"no argument of {function.__qualname__} has a type that says whose weights it depends on")
    shared = RESULTS(function)
    private = cache_in_session(max_entries=2)(function)

    @functools.wraps(function)
    def cached(*args: P.args, **kwargs: P.kwargs) -> R:
        arguments = signature.bind(*args, **kwargs).arguments
        owners = {arguments[name].owner() for name in owned} - {EVERYBODY}
        if owners - {this_session()}:
            raise UnavailableError("These weights are of another session.")
        return (private if owners else shared)(*args, **kwargs)

    return cached


def _is_owned(annotated: object) -> bool:
    return isinstance(annotated, type) and issubclass(annotated, Owned)


def clear_session_caches() -> None:
    """Free what was computed with this session's upload and trained network, and their models."""
    for cache in _session_caches:
        cache.clear()


def clear_shared_caches() -> None:
    """Free what visitors computed with weights that everybody may use."""
    for cache in _shared_caches:
        cache.clear()
