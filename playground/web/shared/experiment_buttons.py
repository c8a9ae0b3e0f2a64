"""The buttons of an experiment, and a view that follows it, the same on every page that has one."""

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from playground.web.session.experiments import Experiment, session_experiments
from playground.web.shared.navigation import pages
from playground.web.shared.page_end import fragment

INTERVAL = 0.8
"""Seconds between two updates of a view that follows an experiment."""

WIDTH = 110
"""Of the button that is either Pause or Resume, in pixels, so that those beside it stay where they are."""


def buttons(page: str, create: Callable[[], Experiment[Any]] | None) -> None:
    """Start, pause, cancel, reset: all of them at any time, so that nothing moves; those without effect are grey.

    Args:
        page: whose experiment it is; also what the buttons' keys start with.
        create: makes one with the present settings; None if that can't be.
    """
    experiments = session_experiments()
    experiment, active_page = experiments.get(page), experiments.active_page()
    job = None if experiment is None else experiment.job
    idle = active_page != page

    with st.container(horizontal=True, key=f"{page}_buttons"):
        st.button(
            "Start",
            key=f"{page}_start",
            icon=":material/play_arrow:",
            disabled=create is None or active_page is not None,
            on_click=None if create is None else partial(experiments.start, page, create),
        )
        if job is not None and job.status == "paused":
            st.button("Resume", key=f"{page}_resume", icon=":material/resume:", on_click=job.resume, width=WIDTH)
        else:
            pause = None if job is None else job.pause
            icon = ":material/pause:"
            st.button("Pause", key=f"{page}_pause", icon=icon, on_click=pause, disabled=idle, width=WIDTH)
        cancel = None if job is None else job.cancel
        st.button("Cancel", key=f"{page}_cancel", icon=":material/stop:", on_click=cancel, disabled=idle)
        st.button(
            "Reset",
            key=f"{page}_reset",
            icon=":material/restart_alt:",
            on_click=partial(experiments.discard, page),
            disabled=experiment is None,
            help="Forget the curves and go back to the initial weights: the same seed draws the same ones again. A "
            "network that was trained to its end stays until another takes its place.",
        )
    if active_page not in (None, page):
        other = experiments.get(active_page)
        status = "is paused" if other is not None and other.job.status == "paused" else "goes on"
        st.caption(
            f"What you started on the page “{pages()[active_page].title}” {status}. Only one thing runs at a time: end "
            "it there first."
        )


def follow(view: Callable[[], None], page: str, every: float = INTERVAL) -> None:
    """Draw a view of a page's experiment in a fragment of its own, again and again while the experiment is in progress.

    The whole page follows once that changes: then its other parts change too.
    """

    def in_progress() -> bool:
        experiment = session_experiments().get(page)
        return experiment is not None and experiment.in_progress

    before = in_progress()

    def draw() -> None:
        if in_progress() != before:
            st.rerun()
        view()

    draw.__qualname__ = f"follow.{page}.{view.__qualname__}"  # what Streamlit tells fragments apart by
    fragment(draw, every if before else None)()
