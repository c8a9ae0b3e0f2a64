"""A small transformer learns a task in the background, and every step of it can be watched."""

import streamlit as st

from playground.accounting.readable import duration
from playground.link import query
from playground.link.params import TASK_TITLES
from playground.training.network import Tagger, right_answer
from playground.training.tasks import TASKS
from playground.training.trainer import Trainer, clip_gradient, cross_entropy, learning_rate
from playground.views.training import describe_shape, describe_size
from playground.web.choices import shortcuts, widgets
from playground.web.choices.setup import current_setup
from playground.web.session import own_models
from playground.web.session.experiments import machine_speed, training_data
from playground.web.session.own_models import session_experiments
from playground.web.shared import experiment_buttons, panels
from playground.web.views import training as live
from playground.words import say

panels.draw_heading("How does a transformer learn?")
answer = st.container()  # drawn once the settings are known, to which it may not belong any more
slot = own_models.session_models()
run, settings = st.columns([5, 3], gap="medium")
with run:
    task = TASKS[
        TASK_TITLES[widgets.menu("training_task", say("training", "task"), on_change=shortcuts.use_task_defaults)]
    ]
    st.markdown(say("training", f"question-{task.name}"))
    if task.reads_text:
        placeholder = say("training", "text.placeholder")
        widgets.text("training_text", say("training", "text"), height=90, placeholder=placeholder)
    plan = experiment_buttons.plan_or_error(live.make_plan)
    with answer:
        live.draw_answer(plan)
    if plan is not None:
        config, recipe = plan
        data = training_data(recipe)
        small = "yes" if query.trains_small(current_setup().state.asked) else "no"
        shape, size = describe_shape(config), describe_size(config, data)
        right = task.join(right_answer(data, data.validation.targets[0]))
        st.code(f"reads   {task.show_blanks(data.example)}\nanswer  {right}", language=None, wrap_lines=True)
        st.caption(say("training", "architecture", small=small, shape=shape, size=size))
    experiment_buttons.draw_buttons(live.PAGE, plan, live.create_experiment)
    experiment = session_experiments().get(live.PAGE)
    if plan is not None and (experiment is None or experiment.inputs != live.inputs_of(*plan)):
        config, recipe = plan
        time, batch = (
            duration(machine_speed().seconds(config, recipe)),
            min(recipe.batch_size, len(training_data(recipe).train)),
        )
        st.caption(say("training", "cost", time=time, steps=recipe.steps, batch=batch, seed=str(recipe.seed)))
    offer = st.container()
    if experiment is not None:
        experiment_buttons.follow(live.follow_curves, live.PAGE)
        details = st.expander(
            say("training", "details"), icon=":material/monitoring:", key="training_details_open", on_change="rerun"
        )
        if details.open:
            with details:
                experiment_buttons.follow(live.follow_details, live.PAGE)
    answers = st.container()
with settings:
    live.draw_settings(plan)
if slot.problem:
    st.warning(say("training", "not-kept", problem=slot.problem))
experiment_buttons.follow(live.follow_attention, live.PAGE, every=2.5)
in_progress = experiment is not None and not experiment.ended
if slot.trained is not None:
    with answers if in_progress else offer:  # below the curves while they are what there is to see
        live.offer_network(slot.trained)
        live.draw_others(slot.runs[:-1])
live.draw_upload()
if slot.trained is not None and not in_progress:
    with answers:  # last, as it may end the page
        live.draw_answers(slot.trained)
panels.code_behind("training", Trainer, Tagger, cross_entropy, learning_rate, clip_gradient)
