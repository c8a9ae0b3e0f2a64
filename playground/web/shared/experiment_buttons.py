"""The buttons of an experiment, and a view that follows it, the same on every page that has one."""

from collections.abc import Callable

import streamlit as st

from playground.web.session import experiments
from playground.web.shared.navigation import pages
from playground.web.shared.page_end import fragment

INTERVAL = 0.8
"""Seconds between two looks at what goes on."""

WIDTH = 110
"""Of the button that is either Pause or Resume, in pixels, so that those beside it stay where they are."""


def buttons(page: str, begin: Callable[[], None] | None) -> None:
    """Start, pause, cancel, reset: all of them at any time, so that nothing moves; those that make no sense are grey.

    Args:
        page: whose experiment it is; also what the buttons' keys start with.
        begin: starts one with the present settings; None if that can't be.
    """
    experiment, elsewhere = experiments.desk().on(page), experiments.desk().busy_elsewhere(page)
    status = "" if experiment is None else experiment.job.status
    live = status in experiments.LIVE

    def pause() -> None:
        if experiment is not None:
            experiment.job.pause()

    def resume() -> None:
        if experiment is not None:
            experiment.job.resume()

    def cancel() -> None:
        if experiment is not None:
            experiment.job.cancel()

    with st.container(horizontal=True, key=f"{page}_buttons"):
        st.button(
            "Start",
            key=f"{page}_start",
            icon=":material/play_arrow:",
            disabled=begin is None or live or elsewhere is not None,
            on_click=begin,
        )
        if status == "paused":
            st.button("Resume", key=f"{page}_resume", icon=":material/resume:", on_click=resume, width=WIDTH)
        else:
            st.button(
                "Pause", key=f"{page}_pause", icon=":material/pause:", on_click=pause, disabled=not live, width=WIDTH
            )
        st.button("Cancel", key=f"{page}_cancel", icon=":material/stop:", on_click=cancel, disabled=not live)
        st.button(
            "Reset",
            key=f"{page}_reset",
            icon=":material/restart_alt:",
            on_click=lambda: experiments.desk().clear(page),
            disabled=experiment is None,
            help="Forget the curves and go back to the initial weights: the same seed draws the same ones again. A "
            "network that was trained to its end stays until another takes its place.",
        )
    if elsewhere is not None:
        there = experiments.desk().on(elsewhere)
        stands = "is paused" if there is not None and there.job.status == "paused" else "goes on"
        title = pages()[elsewhere].title
        st.caption(f"What you started on the page “{title}” {stands}; one thing at a time: end it there first.")


def watch(view: Callable[[], None], page: str, every: float = INTERVAL) -> None:
    """Draw a view of a page's experiment, again and again while it moves; it is a fragment of its own.

    The whole page follows once the experiment stops moving, or starts to: then its other parts change too.
    """
    experiment = experiments.desk().on(page)
    moving = experiment is not None and experiment.moving

    def look() -> None:
        now = experiments.desk().on(page)
        if (now is not None and now.moving) != moving:
            st.rerun()
        view()

    look.__qualname__ = f"watch.{page}.{view.__qualname__}"  # what Streamlit tells fragments apart by
    fragment(look, every if moving else None)()
