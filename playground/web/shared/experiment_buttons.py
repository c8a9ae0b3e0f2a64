"""The buttons of an experiment, sentences on it, and a view that follows it."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from playground.accounting.readable import duration
from playground.charts.names import escape_markdown
from playground.errors import PlaygroundError
from playground.training.variants import VariantsState
from playground.web.components import request_scroll
from playground.web.session.experiments import LEARNING, Experiment
from playground.web.session.own_models import session_experiments
from playground.web.shared.navigation import page_named
from playground.web.shared.panels import fragment
from playground.words import say

Plan = TypeVar("Plan")


def pending_sentence(experiment: Experiment[Any]) -> str:
    """Return the status of a computation that waits, starts or ends; else empty."""
    status = experiment.status
    if status == "waiting":
        return say("frame", "run-waiting", position=str(experiment.position))
    if status == "cancelled" and not experiment.ended:
        return say("frame", "run-stopping")
    if experiment.state is None and status in ("cancelled", "running"):
        return say("frame", "run-never") if status == "cancelled" else say("frame", "run-starts")
    return ""


def variants_status(experiment: Experiment[VariantsState]) -> str:
    """Return the status of a comparison."""
    status, state, pending = experiment.status, experiment.state, pending_sentence(experiment)
    if pending or state is None or status == "failed":
        return pending or experiment.error
    at = f"{state.n_ended} of {len(state.runs)} runs are done"
    if status == "cancelled":
        return say("frame", "run-stopped", at=at)
    if status == "finished":
        return say("frame", "run-done", runs=str(len(state.runs)), time=duration(experiment.seconds))
    now = state.results[-1] if state.results else None
    step = f", now {now.run.title}, step {len(now.history.loss)} of {now.run.recipe.steps}" if now else ""
    return running_sentence(experiment, f"{at}{step}")


def running_sentence(experiment: Experiment[Any], at: str) -> str:
    """Return where a running experiment is, and the time it takes yet."""
    done = experiment.progress
    left = f", about {duration(experiment.seconds * (1 / done - 1))} to go" if done > 0.02 else ""
    return f"Training: {at}{left}."


def untrained_sentence(run: object, plan: object) -> str:
    """Return which settings differ from the run's (markdown)."""
    return "" if plan in (None, run) else say("frame", "run-changed")


def plan_or_error(make_plan: Callable[[], Plan]) -> Plan | None:
    """Return what the settings describe, or None, with an error on the page."""
    try:
        return make_plan()
    except PlaygroundError as error:
        st.error(escape_markdown(str(error)))
    return None


def draw_buttons(
    page: str, plan: Plan | None, create: Callable[[Plan], Experiment[Any]], *, start: str = "Start"
) -> None:
    """Draw Start, of what `create` makes of a plan, and Stop; the one without effect is grey."""
    experiments = session_experiments()
    experiment, active_page = experiments.get(page), experiments.active_page()
    begin = None if plan is None else partial(start_experiment, page, partial(create, plan))
    is_grey = plan is None or active_page is not None
    has_ended = experiment is not None and experiment.status == "finished"  # what comes next is no second run
    kind: Any = "secondary" if has_ended else "primary"
    stop = None if experiment is None else experiment.stop
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=f"{page}_buttons"):
        icon = ":material/play_arrow:"
        st.button(start, key=f"{page}_start", icon=icon, type=kind, disabled=is_grey, on_click=begin)
        st.button("Stop", key=f"{page}_stop", icon=":material/stop:", disabled=active_page != page, on_click=stop)
    if active_page not in (None, page):
        where = "the sidebar" if active_page == LEARNING else f"the page “{page_named(active_page).title}”"
        st.caption(say("frame", "run-elsewhere", where=where))


def start_experiment(page: str, create: Callable[[], Experiment[Any]]) -> None:
    """Start an experiment, and scroll to its buttons."""
    session_experiments().start(page, create)
    request_scroll(f"{page}_buttons")


def show_progress(experiment: Experiment[Any], status: str) -> None:
    """Draw an experiment's progress, its status, and who shares it."""
    if experiment.active and experiment.others:
        status += f" {say('frame', 'run-shared', others=str(experiment.others))}"
    st.progress(experiment.progress, status)


def follow(view: Callable[[Experiment[Any]], None], page: str, every: float = 0.8) -> None:
    """Draw a view of a page's experiment again and again while it runs, and the whole page at its end."""

    def in_progress(experiment: Experiment[Any] | None) -> bool:
        return experiment is not None and not experiment.ended

    before = in_progress(session_experiments().get(page))

    def draw() -> None:
        experiment = session_experiments().get(page)
        if in_progress(experiment) != before:
            st.rerun()
        if experiment is not None:
            view(experiment)

    draw.__qualname__ = f"follow.{page}.{view.__qualname__}"  # what Streamlit tells fragments apart by
    fragment(draw, every if before else None)()
