"""The buttons of an experiment, sentences on it, and a view that follows it."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from playground.accounting.readable import duration
from playground.charts.markdown import escape_markdown
from playground.errors import PlaygroundError
from playground.training.variants import VariantsState
from playground.web.components.without_picture import ask_before_reload, request_scroll, say_if_lost
from playground.web.session.experiments import LEARNING, Experiment, session_experiments
from playground.web.shared.navigation import page_named
from playground.web.shared.page_end import fragment

Plan = TypeVar("Plan")


def pending_sentence(experiment: Experiment[Any]) -> str:
    """Return the status while it waits, starts or ends; else empty."""
    status = experiment.status
    if status == "waiting":
        return f"Waiting: number {experiment.position} in the queue. It starts by itself, on any page."
    if status == "cancelled" and not experiment.ended:
        return "Stopping after the current step …"
    if experiment.state is None:
        return {"cancelled": "Stopped before the first step.", "running": "Getting ready."}.get(status, "")
    return ""


def variants_status(experiment: Experiment[VariantsState]) -> str:
    """Return the status of a comparison."""
    status, state, pending = experiment.status, experiment.state, pending_sentence(experiment)
    if pending or state is None or status == "failed":
        return pending or experiment.error
    at = f"{state.n_ended} of {len(state.runs)} runs are done"
    if status == "cancelled":
        return f"Stopped: {at}."
    if status == "finished":
        return f"Done: {len(state.runs)} runs in {duration(experiment.seconds)}."
    now = state.results[-1] if state.results else None
    current = f", now {now.run.title}, step {len(now.history.loss)} of {now.run.recipe.steps}" if now else ""
    return running_sentence(experiment, f"{at}{current}")


def running_sentence(experiment: Experiment[Any], at: str) -> str:
    """Return the status of a running experiment, which is `at` a step, and how long it still takes."""
    done = experiment.progress
    left = f", about {duration(experiment.seconds * (1 / done - 1))} to go" if done > 0.02 else ""
    return f"Training: {at}{left}."


def was_computed_before(experiment: Experiment[Any]) -> bool:
    """Whether the run had ended before this visitor started it."""
    return experiment.status == experiment.joined == "finished"


def untrained_sentence(differences: list[str]) -> str:
    """Return which of the page's settings have changed since the run was started (markdown)."""
    if not differences:
        return ""
    changes = f"{', '.join(differences[:6])}{' …' if len(differences) > 6 else ''}"
    return f"**The settings are no longer this run's:** {changes}. **Start** trains with the present ones."


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
    has_network: bool = False,
    start: str = "Start",
) -> None:
    """Draw Start and Stop, both at any time, so that nothing moves; the one without effect is grey.

    `create` starts a plan; `has_network`: whether what an earlier session has trained came back.
    """
    experiments = session_experiments()
    experiment, active_page = experiments.get(page), experiments.active_page()
    has_ended = experiment is not None and experiment.status == "finished"  # what comes next is no second run
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=f"{page}_buttons"):
        st.button(
            start,
            key=f"{page}_start",
            icon=":material/play_arrow:",
            type="secondary" if has_ended else "primary",
            disabled=plan is None or active_page is not None,
            on_click=None if plan is None else partial(start_experiment, page, partial(create, plan)),
        )
        st.button(
            "Stop",
            key=f"{page}_stop",
            icon=":material/stop:",
            disabled=active_page != page,
            on_click=None if experiment is None else experiment.stop,
        )
    say_if_lost(page, experiments.session, has_experiment=experiment is not None, has_network=has_network)
    if active_page not in (None, page):
        where = "in the sidebar" if active_page == LEARNING else f"on the page “{page_named(active_page).title}”"
        st.caption(f"What you started {where} goes on. Only one thing runs at a time: stop it there first.")


def start_experiment(page: str, create: Callable[[], Experiment[Any]]) -> None:
    """Start an experiment, and scroll to the buttons."""
    session_experiments().start(page, create)
    request_scroll(f"{page}_buttons")


def show_progress(experiment: Experiment[Any], status: str) -> None:
    """Draw how far an experiment is, its status, and who shares it."""
    sharing, others = "", experiment.others
    if experiment.active and others:
        sharing = f"Shared with {others} other visitors; Stop takes only you out of it."
    elif was_computed_before(experiment):
        sharing = "This run had been computed here before. Another *seed* makes one to watch."
    st.progress(experiment.progress, f"{status} {sharing}".strip())


def warn_before_reload() -> None:
    """Let the browser ask before a reload while an experiment is active."""
    is_active = session_experiments().active_page() is not None
    fragment(ask_while_active, run_every=2 if is_active else None)()


def ask_while_active() -> None:
    """Draw the component that makes the browser ask, if an experiment is active."""
    if session_experiments().active_page() is not None:
        ask_before_reload()


def follow(view: Callable[[Experiment[Any]], None], page: str, every: float = 0.8) -> None:
    """Draw a view of an experiment in a fragment, again and again while it goes on; the whole page follows its end."""

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
