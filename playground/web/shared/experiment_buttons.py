"""The buttons of an experiment, sentences on it, and a view that follows it, the same on every page that has one."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from playground.accounting.readable import duration
from playground.charts.markdown import escape_markdown
from playground.errors import PlaygroundError
from playground.training.variants import VariantsState
from playground.web.components.without_picture import ask_before_reload, request_scroll
from playground.web.session.experiments import LEARNING, Experiment, session_experiments
from playground.web.shared.navigation import page_named
from playground.web.shared.page_end import fragment


def pending_sentence(experiment: Experiment[Any]) -> str:
    """Return the status while the computation has nothing to say of it: it waits, starts or ends; else empty."""
    status = experiment.job.status
    if status == "waiting":
        return f"Waiting: number {experiment.job.position} in the queue. It starts by itself, on any page."
    if status == "cancelled" and experiment.in_progress:
        return "Stopping after the current step …"
    if experiment.state is None:
        return {"cancelled": "Stopped before the first step.", "running": "Getting ready."}.get(status, "")
    return ""


def variants_status(experiment: Experiment[VariantsState]) -> str:
    """Return the status of a comparison in a sentence or two."""
    job, state, pending = experiment.job, experiment.state, pending_sentence(experiment)
    if pending or state is None or job.status == "failed":
        return pending or job.error
    at = f"{state.n_ended} of {len(state.runs)} runs are done"
    if job.status == "cancelled":
        return f"Stopped: {at}."
    if job.status == "finished":
        return f"Done: {len(state.runs)} runs in {duration(job.seconds)}."
    now = state.results[-1] if state.results else None
    current = f", now {now.run.title}, step {len(now.history.loss)} of {now.run.recipe.steps}" if now else ""
    return running_sentence(experiment, f"{at}{current}")


def running_sentence(experiment: Experiment[Any], at: str) -> str:
    """Return the status of a running experiment, and how long it still takes; `at` is where it is."""
    done = experiment.job.progress
    left = f", about {duration(experiment.job.seconds * (1 / done - 1))} to go" if done > 0.02 else ""
    return f"Training: {at}{left}."


def sharing_sentence(experiment: Experiment[Any]) -> str:
    """Return who else takes part in the run, or that it was there before; empty if it is this visitor's alone."""
    if experiment.active and experiment.job.others:
        return f"Shared with {experiment.job.others} other visitors; Stop takes only you out of it."
    if was_computed_before(experiment):
        return "This run had been computed here before. Another *seed* makes one to watch."
    return ""


def was_computed_before(experiment: Experiment[Any]) -> bool:
    """Whether the run had come to its end before this visitor started it: there was nothing to watch."""
    return experiment.job.status == experiment.job.joined == "finished"


def untrained_sentence(differences: list[str]) -> str:
    """Return which of the page's settings have changed since the run was started (markdown)."""
    if not differences:
        return ""
    changes = f"{', '.join(differences[:6])}{' …' if len(differences) > 6 else ''}"
    return f"**The settings are no longer this run's:** {changes}. **Start** trains with the present ones."


Plan = TypeVar("Plan")


def plan_or_error(make_plan: Callable[[], Plan]) -> Plan | None:
    """Return what the page's settings describe; None, with an error on the page, if that is nothing to start."""
    try:
        return make_plan()
    except PlaygroundError as error:
        st.error(escape_markdown(str(error)))
    return None


def draw_buttons(
    page: str,
    plan: Plan | None,
    create: Callable[[Plan], Experiment[Any]],
    *,
    start: str = "Start",
    scrolls_to: str = "",
) -> None:
    """Draw Start and Stop, both at any time, so that nothing moves; the one without effect is grey.

    Args:
        page: whose experiment it is; also what the buttons' keys start with.
        plan: what the present settings describe; None if there is nothing to start.
        create: starts a plan in the background.
        start: what is written on the first of them.
        scrolls_to: key of the container in which the visitor can watch what was started; empty: where it is.
    """
    experiments = session_experiments()
    experiment = experiments.get(page)
    has_ended = experiment is not None and experiment.job.status == "finished"  # what comes next is no second run
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=f"{page}_buttons"):
        st.button(
            start,
            key=f"{page}_start",
            icon=":material/play_arrow:",
            type="secondary" if has_ended else "primary",
            disabled=plan is None or experiments.active_page() is not None,
            on_click=None if plan is None else partial(start_experiment, page, partial(create, plan), scrolls_to),
        )
        st.button(
            "Stop",
            key=f"{page}_stop",
            icon=":material/stop:",
            disabled=experiments.active_page() != page,
            on_click=None if experiment is None else experiment.job.stop,
        )
    active_page = experiments.active_page()
    if active_page not in (None, page):
        where = "in the sidebar" if active_page == LEARNING else f"on the page “{page_named(active_page).title}”"
        st.caption(f"What you started {where} goes on. Only one thing runs at a time: stop it there first.")


def start_experiment(page: str, create: Callable[[], Experiment[Any]], scrolls_to: str = "") -> None:
    """Start an experiment, and show the place where it can be watched."""
    session_experiments().start(page, create)
    if scrolls_to:
        request_scroll(scrolls_to)


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
