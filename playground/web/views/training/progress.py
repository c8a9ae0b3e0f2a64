"""The Training page's progress bar, metrics, curves and tables of a run."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from playground.figures import training as figures
from playground.training.after.run_state import TrainingState
from playground.training.evaluation import History, Measured
from playground.training.recipe import Recipe
from playground.training.trainer import learning_rate
from playground.web.session.experiments import Experiment, session_experiments, training_data
from playground.web.shared import experiment_buttons, panels
from playground.web.shared.experiment_buttons import difference_sentence, list_changed_settings
from playground.web.shared.page_end import fragment
from playground.web.views.training import training_run
from playground.web.views.training.training_run import PAGE, TrainingPlan

MEASURED: tuple[Measured, ...] = ("loss", "accuracy")


def progress(plan: TrainingPlan | None) -> None:
    """Draw the session's experiment; before there is one, the learning rates of the planned run."""
    experiment = session_experiments().get(PAGE)
    if experiment is None:
        if plan is not None:
            planned_rates(plan.recipe)
        return
    config, recipe = experiment.inputs
    st.caption(f"**This run:** {training_run.describe_training(config, recipe, training_data(recipe))}.")
    if plan is not None and experiment.inputs != plan.inputs:
        differences = list_changed_settings(experiment.inputs, plan.inputs)
        st.info(difference_sentence(experiment, "the run described above", differences))
    experiment_buttons.follow(status_and_curves, PAGE)
    tables()


def planned_rates(recipe: Recipe) -> None:
    """Draw the learning rate of every step, which is known before a run starts."""
    rates = [learning_rate(step, recipe) for step in range(1, recipe.steps + 1)]
    st.caption("**Start** trains it in the background, and its curves grow here. What is known before:")
    panels.chart(
        "training_rate",
        figures.rate_curve(rates, recipe.steps),
        caption=f"The learning rate of every step, at most {max(rates):.3g}"
        + (f", reached at step {min(recipe.warmup, recipe.steps):,}." if recipe.schedule == "paper" else "."),
        alt="Learning rate by step.",
        table=lambda: _by_step({"learning rate": rates}),
    )


def status_and_curves(experiment: Experiment[TrainingState]) -> None:
    """Draw the progress bar, the metrics and the curves so far."""
    run = experiment.state
    diverged = run is not None and run.outcome == "diverged"
    share = run.step / run.recipe.steps if run is not None and diverged else experiment.progress
    experiment_buttons.show_progress(experiment, share, training_run.status_sentence(experiment))
    if experiment.job.status == "failed":
        st.error(experiment.job.error)
    if run is not None:
        if diverged and experiment.job.status != "failed":
            st.warning(" ".join(filter(None, (run.message, experiment.job.note))))
        history = run.history.copy()
        _metrics(experiment, run, history)
        _curves(run, history, panels.growing_curves if experiment.in_progress else panels.chart)


def _metrics(experiment: Experiment[TrainingState], run: TrainingState, history: History) -> None:
    evaluation = history.evaluations[-1] if history.evaluations else None
    validation = None if evaluation is None else evaluation.validation
    if run.kept is not None:
        evaluation, validation = history.at(run.kept_step), run.kept
    speeds = [each.tokens_per_second for each in history.evaluations if each.tokens_per_second]
    with st.container(horizontal=True, gap="medium"):
        for name, text in (
            ("Validation loss", "–" if validation is None else f"{validation.loss:.4f}"),
            ("Validation accuracy", "–" if validation is None else f"{validation.accuracy:.1%}"),
            ("Training accuracy", "–" if evaluation is None else f"{evaluation.train.accuracy:.1%}"),
            ("Tokens a second", f"{speeds[-1]:,.0f}" if speeds else "–"),
            ("Time", f"{experiment.job.seconds:.0f} s"),
        ):
            st.metric(name, text, width="content")


def _curves(run: TrainingState, history: History, show: Callable[..., None]) -> None:
    steps, n_classes = run.recipe.steps, len(run.data.labels)
    losses, accuracies = (figures.Evaluations(*history.series(measured)) for measured in MEASURED)
    show(
        "training_loss",
        figures.loss_curves(history.loss, losses, steps, n_classes),
        caption="How wrong it is, as −ln of the probability that it gives the right answer. Batches jump about: "
        "each is small, and carries what the regularisers add; the two sets are measured without. Where the training "
        "set goes on falling and the validation set does not, it learns by heart.",
        alt="Loss by step: batches, training set and validation set.",
    )
    show(
        "training_accuracy",
        figures.accuracy_curves(accuracies, steps, run.data.baseline),
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
            + (" Up while it warms up, then down with 1/√step." if run.recipe.schedule == "paper" else ""),
            alt="Learning rate by step.",
        )
    with right:
        show(
            "training_gradient",
            figures.gradient_curve(history.grad_norm, steps, run.recipe.clip),
            caption="The norm of the whole gradient: how steep the loss is where the weights are. Of many steps at one "
            "place, the largest is drawn.",
            alt="Norm of the whole gradient by step.",
        )


@fragment
def tables() -> None:
    """Draw the numbers of all four charts, as of the moment when their table is opened."""
    experiment = session_experiments().get(PAGE)
    if experiment is None:
        return
    history = experiment.state.history.copy() if experiment.state else History()
    columns = {"loss": history.loss, "learning rate": history.lr, "gradient norm": history.grad_norm}
    panels.numbers("training_evaluations", lambda: _by_evaluation(history), "The numbers of both sets")
    panels.numbers("training_steps", lambda: _by_step(columns), "The numbers of every step")


def _by_evaluation(history: History) -> pd.DataFrame:
    evaluations = history.evaluations
    columns = {
        "training loss": [each.train.loss for each in evaluations],
        "validation loss": [each.validation.loss for each in evaluations],
        "training accuracy": [each.train.accuracy for each in evaluations],
        "validation accuracy": [each.validation.accuracy for each in evaluations],
        "tokens a second": [round(each.tokens_per_second) for each in evaluations],
    }
    return pd.DataFrame(columns, pd.Index([each.step for each in evaluations], name="after step"))


def _by_step(columns: dict[str, list[float]]) -> pd.DataFrame:
    n = min(map(len, columns.values()), default=0)
    table = pd.DataFrame({name: values[:n] for name, values in columns.items()})
    return table.set_index(pd.RangeIndex(1, n + 1, name="step"))
