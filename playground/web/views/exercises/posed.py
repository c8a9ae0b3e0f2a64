"""Exercises as this server poses them: their states run with the app's models, in turns, and are kept for everybody."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import fields, replace
from functools import cached_property
from typing import Any

import streamlit as st

from playground.charts.scene import Scene
from playground.learn.exercise import Variant
from playground.link.opening import LinkedView
from playground.views.all_views import VIEWS
from playground.web.session import caches
from playground.web.session.caches import shipped_exercises
from playground.web.session.services import services
from playground.web.session.weights_cache import cache_for_everybody

_LONG_PAGES = ("gradient-flow", "regularisers", "training")
"""Pages whose numbers come from passes back, or from trainings: they take the long place."""


class ServedView(LinkedView):
    """A state that the app computes, within this server's limits; its scene is made once."""

    @cached_property
    def scene(self) -> Scene[Any]:
        """What the view of its page looks at; raises as the state's run."""
        return VIEWS[self.page].scene(self)


def serve_view(view: LinkedView) -> ServedView:
    """The same state, which the app computes."""
    parts = {each.name: getattr(view, each.name) for each in fields(view)}
    return ServedView(**parts | {"lab": replace(view.lab, source=caches.APP)})


class ServedVariant(Variant):
    """A variant whose states run with the app's models."""

    @cached_property
    def view(self) -> ServedView:
        """As of `Variant`."""
        return serve_view(super().view)

    @cached_property
    def other(self) -> LinkedView | None:
        """As of `Variant`."""
        other = super().other
        return None if other is None else serve_view(other)


@cache_for_everybody(max_entries=8)
def pose_variant(key: str, number: int) -> ServedVariant:
    """A variant of a shipped exercise, with all that was computed of it; raises as `open_link`."""
    variant = ServedVariant(shipped_exercises()[key], number)
    _ = variant.view
    return variant


@cache_for_everybody(max_entries=64)
def explain_variant(key: str, number: int) -> str:
    """Why a variant's answer is what it is; raises as `Variant.explain`. To be called in a turn."""
    return pose_variant(key, number).explain(shipped_exercises()[key].explanation)


@contextmanager
def take_turn(page: str) -> Iterator[None]:
    """Hold a turn to compute with a state of a page, by its path; raises `BusyError`.

    Whoever looks on is told while it takes a while.
    """
    with ExitStack() as held:
        held.enter_context(st.spinner("This is computed for you, which may take a moment."))
        if page in _LONG_PAGES:
            held.enter_context(services().turns.hold_long_place())
        else:
            held.enter_context(services().turns.take())
        yield
