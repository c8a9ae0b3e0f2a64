"""What the Training page shows of a run while it goes on: how far it is, and its curves."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from playground.figures import training as figures
from playground.training.history import History, Measured
from playground.training.optimiser import learning_rate
from playground.training.recipe import Recipe
from playground.web.components.curves import draw_curves
from playground.web.session import experiments
from playground.web.shared import experiment_buttons, panels
from playground.web.shared.page_end import fragment
from playground.web.views.training import training_run
from playground.web.views.training.plan import PAGE, Plan, data
from playground.web.views.training.training_run import Lesson


def draw(plan: Plan | None) -> None:
    """The session's run, as it goes on; before there is one, what is known of it."""
    run = training_run.current()
    if run is None:
        if plan is not None:
            schedule(plan.recipe)
        return
    st.caption(f"**This run:** {training_run.in_words(run.about, data(run.about[1]))}.")
    if plan is not None and run.about != plan.about:
        changed = training_run.changes(run.about, plan.about)
        st.info(
            f"The curves are of the run described above, with other settings than the page has now "
            f"({', '.join(changed[:6])}{' …' if len(changed) > 6 else ''}). "
            + ("It has to end before another can start." if run.live else "**Start** trains with the present ones.")
        )
    experiment_buttons.watch(live, PAGE)
    numbers()


def schedule(recipe: Recipe) -> None:
    """What is known of a run before it starts: the learning rate of every step."""
    rates = [learning_rate(step, recipe) for step in range(1, recipe.steps + 1)]
    st.caption("**Start** trains it in the background, and its curves grow here. What is known before:")
    panels.chart(
        "training_rate",
        figures.rate_curve(rates, recipe.steps),
        caption=f"The learning rate of every step, at most {max(rates):.3g}"
        + (f", reached at step {min(recipe.warmup, recipe.steps):,}." if recipe.schedule == "paper" else "."),
        alt="Learning rate by step.",
    )
    panels.numbers("training_rate", lambda: _by_step({"learning rate": rates}))


def live() -> None:
    """How far the run is, and its curves so far."""
    run = training_run.current()
    if run is None:
        return
    share = 1.0 if run.job.status == "finished" else run.course.progress if run.course else 0.0
    if run.course is not None and run.course.outcome == "diverged":
        share = run.course.step / run.course.recipe.steps
    st.progress(share, training_run.says(run))
    if run.job.status == "failed":
        st.error(run.job.error)
    elif run.course is not None and run.course.outcome == "diverged":
        st.warning(run.course.message)
    if run.course is not None:
        history = run.course.history.copy()
        _metrics(run, history)
        _curves(run.course, history, draw_curves if run.moving else panels.chart)


def _metrics(run: experiments.Experiment[Lesson], history: History) -> None:
    look = history.evaluations[-1] if history.evaluations else None
    validation = None if look is None else look.validation
    if run.course is not None and run.course.kept is not None:
        look, validation = history.at(run.course.kept_step), run.course.kept
    with st.container(horizontal=True, gap="medium"):
        for name, text in (
            ("Validation loss", "–" if validation is None else f"{validation.loss:.4f}"),
            ("Validation accuracy", "–" if validation is None else f"{validation.accuracy:.1%}"),
            ("Training accuracy", "–" if look is None else f"{look.train.accuracy:.1%}"),
            ("Tokens a second", _speed(history)),
            ("Time", f"{run.job.seconds:.0f} s"),
        ):
            st.metric(name, text, width="content")


def _speed(history: History) -> str:
    speeds = [look.tokens_per_second for look in history.evaluations if look.tokens_per_second]
    return f"{speeds[-1]:,.0f}" if speeds else "–"


def _curves(lesson: Lesson, history: History, show: Callable[..., None]) -> None:
    steps, n_classes = lesson.recipe.steps, len(lesson.data.labels)
    show(
        "training_loss",
        figures.loss_curves(history.loss, _evaluations(history, "loss"), steps, n_classes),
        caption="How wrong it is, as −ln of the probability that it gives the right answer. Batches jump about: "
        "each is small, and carries what the regularisers add; the two sets are measured without. Where the training "
        "set goes on falling and the validation set does not, it learns by heart.",
        alt="Loss by step: batches, training set and validation set.",
    )
    show(
        "training_accuracy",
        figures.accuracy_curves(_evaluations(history, "accuracy"), steps, lesson.data.baseline),
        caption="The share of positions at which its likeliest answer is right. Below the dashed line it knows no more "
        "than the simple rule.",
        alt="Accuracy by step: training set and validation set.",
    )
    left, right = st.columns(2)
    with left:
        show(
            "training_rate",
            figures.rate_curve(history.lr, steps),
            caption="The learning rate: how far a step goes."
            + (" Up while it warms up, then down with 1/√step." if lesson.recipe.schedule == "paper" else ""),
            alt="Learning rate by step.",
        )
    with right:
        show(
            "training_gradient",
            figures.gradient_curve(history.grad_norm, steps, lesson.recipe.clip),
            caption="The norm of the whole gradient: how steep the loss is where the weights are. Of many steps at one "
            "place, the largest is drawn.",
            alt="Norm of the whole gradient by step.",
        )


def _evaluations(history: History, measured: Measured) -> figures.Evaluations:
    return figures.Evaluations(*history.series(measured))


@fragment
def numbers() -> None:
    """The numbers of all four charts, as of the moment when their table is opened."""
    run = training_run.current()
    if run is None:
        return
    history = run.course.history.copy() if run.course else History()
    columns = {"loss": history.loss, "learning rate": history.lr, "gradient norm": history.grad_norm}
    panels.numbers("training_evaluations", lambda: _by_evaluation(history), "The numbers of both sets")
    panels.numbers("training_steps", lambda: _by_step(columns), "The numbers of every step")


def _by_evaluation(history: History) -> pd.DataFrame:
    looks = history.evaluations
    return pd.DataFrame(
        {
            "training loss": [look.train.loss for look in looks],
            "validation loss": [look.validation.loss for look in looks],
            "training accuracy": [look.train.accuracy for look in looks],
            "validation accuracy": [look.validation.accuracy for look in looks],
            "tokens a second": [round(look.tokens_per_second) for look in looks],
        },
        index=pd.Index([look.step for look in looks], name="after step"),
    )


def _by_step(columns: dict[str, list[float]]) -> pd.DataFrame:
    n = min(map(len, columns.values()), default=0)
    table = pd.DataFrame({name: values[:n] for name, values in columns.items()})
    return table.set_index(pd.RangeIndex(1, n + 1, name="step"))
