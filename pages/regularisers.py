"""Ten regularisers and what each changes: one task, many runs, measured side by side."""

import streamlit as st

from playground.accounting.readable import duration
from playground.link.params import FIELDS
from playground.training.network import evaluate_unbatched
from playground.training.trainer import clip_gradient, cross_entropy, distillation, mask_tokens
from playground.training.variants import VariantTraining, regulariser_runs
from playground.views.regularisers import explain_ten, show_ready
from playground.web.choices import widgets
from playground.web.choices.setup import current_value
from playground.web.session.experiments import join_variants, seconds_of, session_experiments, training_data
from playground.web.shared import experiment_buttons, panels
from playground.web.shared.renderer import render
from playground.web.views import regularisers as live

panels.draw_heading("What does each ingredient of training change?")
answer = st.container()  # drawn once the settings are known, from which the runs may differ by now
task, amount, seeds = st.columns(3, gap="medium")
with task:
    widgets.menu("regularisers_task", "Task")
with amount:
    widgets.choice("regularisers_data", "Data to learn from")
with seeds:
    widgets.choice("regularisers_seeds", "Seeds", help_text="With 3, everything runs with this seed and the next two.")
widgets.several("regularisers_chosen", "Compare with the plain run")
live.draw_strengths()
plan = experiment_buttons.plan_or_error(live.make_plan)
start = "Start" if plan is None else f"Start {len(plan)} runs"
experiment_buttons.draw_buttons(live.PAGE, plan, join_variants, start=start)
if plan is not None:
    steps, n_train, names = plan[0].recipe.steps, len(training_data(plan[0].recipe).train), {run.name for run in plan}
    idle = ", ".join(title for title in current_value("regularisers_chosen") if FIELDS[title] not in names)
    left_out = f" It can change nothing here: {idle}." if idle else ""
    st.caption(
        f"About **{duration(seconds_of(plan))}** here: {steps} steps each, on the same {n_train:,} sequences.{left_out}"
    )
with answer:
    live.draw_answer(plan)
if session_experiments().get(live.PAGE) is not None:
    experiment_buttons.follow(live.follow_curves, live.PAGE)
    # Here and not beside the curves: a whole rerun of the page ends by putting right what the address says.
    widgets.choice("regularisers_measure", "Curves of")
    details = st.expander("All numbers", icon=":material/table:", key="regularisers_details_open", on_change="rerun")
    if details.open:
        with details:
            experiment_buttons.follow(live.follow_details, live.PAGE)
render(show_ready(), live=live.LIVE)
explained = st.expander(
    "What each of the ten does", icon=":material/tune:", key="regularisers_cards", on_change="rerun"
)
if explained.open:
    explained.markdown(explain_ten())
panels.code_behind(
    "regularisers",
    regulariser_runs,
    VariantTraining,
    evaluate_unbatched,
    mask_tokens,
    cross_entropy,
    distillation,
    clip_gradient,
)
