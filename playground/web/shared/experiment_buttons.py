"""The buttons of an experiment, and a view that follows it, the same on every page that has one."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from playground.charts.markdown import escape_markdown
from playground.errors import PlaygroundError
from playground.web.components.lost_experiment import say_if_lost
from playground.web.components.reload_warning import ask_before_reload
from playground.web.session.experiments import Experiment, session_experiments
from playground.web.shared.experiment_status import sharing_sentence
from playground.web.shared.navigation import page_named
from playground.web.shared.page_end import fragment

Plan = TypeVar("Plan")

WIDTH = 110
"""Of the button that is either Pause or Resume, in pixels, so that those beside it stay where they are."""


def plan_or_error(make_plan: Callable[[], Plan], explain: Callable[[PlaygroundError], str] = str) -> Plan | None:
    """What the page's settings describe; None, with an error on the page, where they describe nothing to start."""
    try:
        return make_plan()
    except PlaygroundError as error:
        st.error(escape_markdown(explain(error)))
    return None


def buttons(
    page: str, plan: Plan | None, create: Callable[[Plan], Experiment[Any]], *, has_network: bool = False
) -> None:
    """Start, pause, cancel, reset: all of them at any time, so that nothing moves; those without effect are grey.

    Args:
        page: whose experiment it is; also what the buttons' keys start with.
        plan: what the present settings describe; None if there is nothing to start.
        create: starts a plan in the background.
        has_network: whether what an earlier session has trained came back.
    """
    experiments = session_experiments()
    experiment, active_page = experiments.get(page), experiments.active_page()
    job = None if experiment is None else experiment.job
    idle = active_page != page

    with st.container(horizontal=True, vertical_alignment="center", key=f"{page}_buttons"):
        st.button(
            "Start",
            key=f"{page}_start",
            icon=":material/play_arrow:",
            disabled=plan is None or active_page is not None,
            on_click=None if plan is None else partial(experiments.start, page, partial(create, plan)),
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
        if not idle:
            st.caption("A reload ends the run for you.", width="content")
    say_if_lost(page, experiments.session, has_experiment=experiment is not None, has_network=has_network)
    if active_page not in (None, page):
        other = experiments.get(active_page)
        status = "is paused" if other is not None and other.job.status == "paused" else "goes on"
        st.caption(
            f"What you started on the page “{page_named(active_page).title}” {status}. Only one thing runs at a time: "
            "end it there first."
        )


def show_progress(experiment: Experiment[Any], share: float, status: str) -> None:
    """Draw how far an experiment is, its status, and who shares it."""
    st.progress(share, " ".join(filter(None, (status, sharing_sentence(experiment)))))


def warn_before_reload() -> None:
    """On any page: let the browser ask before a reload for as long as an experiment of the session is active."""
    is_active = session_experiments().active_page() is not None
    fragment(ask_while_active, run_every=2 if is_active else None)()


def ask_while_active() -> None:
    """Draw the component that makes the browser ask, if an experiment is active."""
    if session_experiments().active_page() is not None:
        ask_before_reload()


def follow(view: Callable[[Experiment[Any]], None], page: str, every: float = 0.8) -> None:
    """Draw a view of a page's experiment in a fragment of its own, every few seconds while it is in progress.

    The whole page follows once that changes: then its other parts change too.
    """

    def in_progress(experiment: Experiment[Any] | None) -> bool:
        return experiment is not None and experiment.in_progress

    before = in_progress(session_experiments().get(page))

    def draw() -> None:
        experiment = session_experiments().get(page)
        if in_progress(experiment) != before:
            st.rerun()
        if experiment is not None:
            view(experiment)

    draw.__qualname__ = f"follow.{page}.{view.__qualname__}"  # what Streamlit tells fragments apart by
    fragment(draw, every if before else None)()
