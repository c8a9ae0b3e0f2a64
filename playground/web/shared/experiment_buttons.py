"""The buttons of an experiment, sentences on it, and a view that follows it, the same on every page that has one."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from playground.accounting.readable import duration
from playground.charts.markdown import escape_markdown
from playground.errors import PlaygroundError
from playground.text.wording import count_noun
from playground.training.ablation import AblationState, seeds_of
from playground.web.components.without_picture import ask_before_reload, request_scroll, say_if_lost
from playground.web.session.experiments import LEARNING, Experiment, session_experiments
from playground.web.shared.navigation import page_named
from playground.web.shared.page_end import fragment


def pending_sentence(experiment: Experiment[Any]) -> str:
    """The status while the computation has nothing to say of it: it waits, starts or ends; else empty."""
    status, begun = experiment.job.status, experiment.state is not None
    if status == "waiting":
        continues = "continues" if begun else "starts"
        place, wait = ordinal(experiment.job.position), experiment.job.expected_wait
        when = f" in about {duration(wait)}" if wait >= 1 else ""
        return f"Waiting: {place} in the queue. It {continues}{when} by itself, on any page."
    if experiment.cancelling:
        return "Cancelling after the current step …"
    if begun or status == "failed":
        return ""
    if status == "cancelled":
        return f"{cancelled_clause(experiment)} before the first step."
    return "Paused before the first step." if status == "paused" else "Getting ready."


def continuing_sentence(experiment: Experiment[Any], at: str) -> str:
    """The status of an experiment that is paused or running, and how long it still takes; `at` is where it is."""
    if experiment.job.status == "paused":
        if experiment.job.missed_end:
            return f"Paused for you: {at}. The run has come to its end for others; Resume shows it."
        others = experiment.job.others
        if experiment.job.aside and others:
            return (
                f"Paused for you: {at}. The run goes on for {count_people(others)}; Resume shows how far it is by then."
            )
        return f"Paused: {at}. Others may train meanwhile; Resume queues it again."
    done = experiment.progress
    left = f", about {duration(experiment.job.seconds * (1 / done - 1))} to go" if done > 0.02 else ""
    return f"Training: {at}{left}."


def ablation_status(experiment: Experiment[AblationState]) -> str:
    """The status of an ablation in one or two sentences."""
    status, ablation, pending = experiment.job.status, experiment.state, pending_sentence(experiment)
    if pending:
        return pending
    if ablation is None or status == "failed":
        return experiment.job.error
    if status == "finished":
        n = len(ablation.trainings)
        return f"{'Both' if n == 2 else f'All {n}'} runs are done, in {duration(experiment.job.seconds)}."
    results, n_ended, n = ablation.results, ablation.n_ended, len(ablation.trainings)
    if status == "cancelled":
        at = f": {n_ended} of {n} runs are done, and their numbers stay" if n_ended else f" in the first of {n} runs"
        return f"{cancelled_clause(experiment)}{at}."
    n_growing = sum(not result.outcome for result in results)
    if n_growing > 1:
        at = f"{n_ended} of {n} runs are done, {n_growing} go side by side"
    elif not results:
        at = f"run 1 of {n}"
    else:
        training, step = results[-1].training, len(results[-1].history.loss)
        at = f"run {len(results)} of {n}"
        if training.recipe.distill and not step:
            at += f", {training.title}: its teacher learns first"
        else:
            seed = f", seed {training.recipe.seed}" if len(seeds_of(ablation.trainings)) > 1 else ""
            at += f": {training.title}{seed}, step {step} of {training.recipe.steps}"
    return continuing_sentence(experiment, at)


def sharing_sentence(experiment: Experiment[Any]) -> str:
    """Who else takes part in the run, and what Pause and Cancel mean then; empty where it is this visitor's alone."""
    job, others = experiment.job, experiment.job.others
    if job.status in ("waiting", "running") and others:
        return (
            f"You share this run with {count_people(others)}, who started the same one. Pause and Cancel take only you "
            "out of it; it goes on while anyone stays."
        )
    if was_computed_before(experiment):
        return "The same run had been computed here before; this is its result. Another *seed* makes one to watch."
    return ""


def was_computed_before(experiment: Experiment[Any]) -> bool:
    """Whether the run had come to its end before this visitor started it: there was nothing to watch."""
    return experiment.job.status == experiment.job.joined == "finished"


def count_people(n: int) -> str:
    """`1 other visitor`, `2 other visitors`, …."""
    return count_noun(n, "other visitor")


def cancelled_clause(experiment: Experiment[Any]) -> str:
    """How a sentence on a cancelled experiment begins."""
    if not experiment.disconnected:
        return "Cancelled"
    consequence = "you left the run" if experiment.job.left else "the run was cancelled"
    return f"The connection to your browser broke, and {consequence}"


def ordinal(position: int) -> str:
    """A place in the queue: `next`, `2nd`, `3rd`, `4th` …."""
    if position == 1:
        return "next"
    ending = "th" if position % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(position % 10, "th")
    return f"{position}{ending}"


def untrained_sentence(differences: list[str], *, is_active: bool) -> str:
    """What of a page's settings has changed since what it shows was started; empty without differences (markdown)."""
    if not differences:
        return ""
    when = ", once this is over" if is_active else ""
    changes = _list_changes(differences)
    return f"**The settings are no longer this run's:** {changes}. Press **Start** to train with that{when}."


def _list_changes(differences: list[str]) -> str:
    return f"{', '.join(differences[:6])}{' …' if len(differences) > 6 else ''}"


def difference_sentence(
    experiment: Experiment[Any], measured: str, differences: list[str], *, start: str = "Start"
) -> str:
    """Which settings what is drawn was `measured` with, and the first six in which the page differs from them.

    `start` is the button that takes the present ones.
    """
    advice = "It has to end before another can start." if experiment.active else f"**{start}** takes the present ones."
    return (
        f"What is drawn has other settings: {measured}. What has changed since: {_list_changes(differences)}. {advice}"
    )


Plan = TypeVar("Plan")

WIDTH = 100
"""Of the button that is either Pause or Resume, in pixels, so that those beside it stay where they are."""


def plan_or_error(make_plan: Callable[[], Plan], explain: Callable[[PlaygroundError], str] = str) -> Plan | None:
    """What the page's settings describe; None, with an error on the page, where they describe nothing to start."""
    try:
        return make_plan()
    except PlaygroundError as error:
        st.error(escape_markdown(explain(error)))
    return None


def draw_buttons(
    page: str,
    plan: Plan | None,
    create: Callable[[Plan], Experiment[Any]],
    *,
    has_network: bool = False,
    start: str = "Start",
    scrolls_to: str = "",
) -> None:
    """Start, pause, cancel, reset: all of them at any time, so that nothing moves; those without effect are grey.

    Args:
        page: whose experiment it is; also what the buttons' keys start with.
        plan: what the present settings describe; None if there is nothing to start.
        create: starts a plan in the background.
        has_network: whether what an earlier session has trained came back.
        start: what is written on the first of them.
        scrolls_to: the container, by its key, in which the visitor can watch what was started; empty: where it is.
    """
    experiment = session_experiments().get(page)
    has_ended = experiment is not None and experiment.job.status == "finished"  # what comes next is no second run
    control_buttons(
        page,
        draw_start=lambda: start_button(
            page, plan, create, start=start, is_first_choice=not has_ended, scrolls_to=scrolls_to
        ),
    )
    explain_state(page, has_network=has_network)


def start_button(
    page: str,
    plan: Plan | None,
    create: Callable[[Plan], Experiment[Any]],
    *,
    start: str,
    is_first_choice: bool = False,
    scrolls_to: str,
) -> None:
    """Start alone, in the theme's colour where it `is_first_choice`. Arguments as of `draw_buttons`."""
    st.button(
        start,
        key=f"{page}_start",
        icon=":material/play_arrow:",
        type="primary" if is_first_choice else "secondary",
        disabled=plan is None or session_experiments().active_page() is not None,
        on_click=None if plan is None else partial(_start, page, partial(create, plan), scrolls_to),
    )


def control_buttons(page: str, draw_start: Callable[[], None] = lambda: None) -> None:
    """Pause, cancel, reset, behind Start where that does not stand elsewhere; those without effect are grey."""
    experiments = session_experiments()
    experiment = experiments.get(page)
    job, idle = None if experiment is None else experiment.job, experiments.active_page() != page
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=f"{page}_buttons"):
        draw_start()
        if job is not None and job.status == "paused":
            st.button("Resume", key=f"{page}_resume", icon=":material/resume:", on_click=job.resume, width=WIDTH)
        else:
            pause = None if job is None else job.pause
            st.button("Pause", key=f"{page}_pause", icon=":material/pause:", on_click=pause, disabled=idle, width=WIDTH)
        cancel = None if job is None else job.cancel
        st.button("Cancel", key=f"{page}_cancel", icon=":material/stop:", on_click=cancel, disabled=idle)
        st.button(
            "Reset",
            key=f"{page}_reset",
            icon=":material/restart_alt:",
            on_click=partial(experiments.discard, page),
            disabled=experiment is None,
            help="Forget the curves and go back to the initial weights: the same seed draws the same ones again. A "
            "network that a run has left stays until another takes its place.",
        )


def explain_state(page: str, *, has_network: bool = False) -> None:
    """Say what was lost with an earlier session, and what another page has to end first, if anything."""
    experiments = session_experiments()
    active_page = experiments.active_page()
    say_if_lost(page, experiments.session, has_experiment=experiments.get(page) is not None, has_network=has_network)
    if active_page not in (None, page):
        other = experiments.get(active_page)
        status = "is paused" if other is not None and other.job.status == "paused" else "goes on"
        where = "in the sidebar" if active_page == LEARNING else f"on the page “{page_named(active_page).title}”"
        st.caption(f"What you started {where} {status}. Only one thing runs at a time: end it there first.")


def _start(page: str, create: Callable[[], Experiment[Any]], scrolls_to: str) -> None:
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
