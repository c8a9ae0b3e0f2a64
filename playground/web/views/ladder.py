"""What only the live page Ladder has: the trainings of its rungs, how they are followed, and buttons on each rung."""

from dataclasses import dataclass
from functools import partial

import streamlit as st

from playground.accounting.readable import duration
from playground.charts.chart import Paragraph
from playground.charts.scene import Scene
from playground.errors import TooLargeError
from playground.link.params import ARCHITECTURE, PARAMS, SHARED, TASK_TITLES
from playground.text.wording import lower_first
from playground.training.ablation import AblationState, AblationTraining, seeds_of
from playground.training.ladder import TRAINED, USUAL, climb, ladder_recipe, ladder_trainings
from playground.training.tasks import TASKS
from playground.views.ladder import (
    BEFORE_ANY,
    Ladder,
    plan_ladder,
    show_answer,
    show_ladder,
    show_summary,
    show_trained,
)
from playground.web.choices import setup, widgets
from playground.web.choices.setup import current_value
from playground.web.choices.shortcuts import choose_values
from playground.web.session.experiments import (
    Experiment,
    ablation_seconds,
    join_ablation,
    most_seconds,
    session_experiments,
    training_data,
)
from playground.web.shared import experiment_buttons, panels
from playground.web.shared.navigation import page_named
from playground.web.shared.page_end import as_one_element
from playground.web.shared.renderer import WIDGETS, read_options, render

PAGE = "ladder"

SEEDS_HELP = (
    "A seed decides the sequences, the initial weights and the order of batches. With 3, every rung is trained with "
    "the sidebar's seed and the next two: it takes three times as long and shows what chance does."
)


def list_trainings() -> tuple[AblationTraining, ...]:
    """The trainings of the page's rungs; raises RecipeError where there is no further seed."""
    recipe = ladder_recipe(TASK_TITLES[current_value(f"{PAGE}_task")], current_value("seed"))
    n_seeds = int(current_value(f"{PAGE}_seeds"))
    return ladder_trainings(current_value(f"{PAGE}_rungs"), recipe, training_data(recipe), n_seeds)


@dataclass(frozen=True)
class LadderPlan:
    """A ladder that can be trained."""

    trainings: tuple[AblationTraining, ...]
    seconds: float
    """How long all of it is likely to take here."""


def make_plan(trainings: tuple[AblationTraining, ...]) -> LadderPlan:
    """What is trained, and for how long.

    Raises:
        TooLargeError: the trainings would take more than this server gives, and are not the session's already.
        BusyError: the machine's speed is not known yet, and no turn to measure it came free.
    """
    seconds, longest, experiment = ablation_seconds(trainings), most_seconds(), session_experiments().get(PAGE)
    if seconds > longest and (experiment is None or experiment.inputs != trainings):
        raise TooLargeError(
            f"These {len(trainings)} trainings would take about {duration(seconds)} here, and this server trains for "
            f"at most {duration(longest)}: take rungs away{' or choose one seed' * (len(seeds_of(trainings)) > 1)}."
        )
    return LadderPlan(trainings, seconds)


def make_scene(trainings: tuple[AblationTraining, ...], state: AblationState | None) -> Scene[Ladder]:
    """The ladder of some trainings, which may not have begun; no place of a run is looked at."""
    return Scene(plan_ladder(trainings) if state is None else Ladder(state))


def draw_answer(now: tuple[AblationTraining, ...] | None) -> None:
    """Draw what the session's ladder has shown by now, and before there is one what there is to do.

    `now` are the trainings that the settings describe.
    """

    def follow_answer(experiment: Experiment[AblationState]) -> None:
        differences = [] if now is None else list_differences(experiment.inputs, now)
        scene = make_scene(experiment.inputs, experiment.state)
        untrained = experiment_buttons.untrained_sentence(differences, is_active=experiment.active)
        render(show_answer(scene, untrained), scene)

    if session_experiments().get(PAGE) is None:
        render([Paragraph(BEFORE_ANY, "answer")])
    experiment_buttons.follow(follow_answer, PAGE, every=2.0)


@as_one_element
def draw_start() -> tuple[AblationTraining, ...] | None:
    """Draw the buttons and the cost; returns the trainings that the settings describe, if there can be any."""
    trainings = experiment_buttons.plan_or_error(list_trainings)
    plan = None if trainings is None else experiment_buttons.plan_or_error(partial(make_plan, trainings))
    if plan is not None and not current_value(f"{PAGE}_rungs"):
        st.info("Choose at least one rung; then its encoder is compared with that of 2017.")
        plan = None
    start = "Start" if plan is None else f"Start {len(plan.trainings)} trainings"
    experiment_buttons.draw_buttons(PAGE, plan, lambda plan: join_ablation(PAGE, plan.trainings), start=start)
    experiment = session_experiments().get(PAGE)
    if plan is not None and (experiment is None or experiment.inputs != plan.trainings):
        st.caption(f"It takes about **{duration(plan.seconds)}** here. {describe_trainings(plan.trainings)}")
    return trainings


@as_one_element
def draw_settings() -> None:
    """Draw the choice of task, seeds and rungs, folded."""
    names = [f"{PAGE}_{name}" for name in ("task", "seeds", "rungs")]
    with panels.fold_settings(f"{PAGE}_own_open", "Choose the task and the rungs", names):
        columns = st.columns((3, 1), gap="medium")
        with columns[0]:
            widgets.menu(f"{PAGE}_task", "What is to be learnt")
        with columns[1]:
            widgets.choice(f"{PAGE}_seeds", "Seeds", help_text=SEEDS_HELP)
        widgets.ordered(f"{PAGE}_rungs", "Rungs in their order: what you add comes last")
        st.button("The usual ladder", key=f"{PAGE}_usual", on_click=_set_rungs, args=(USUAL,))


def describe_trainings(trainings: tuple[AblationTraining, ...]) -> str:
    """What is trained."""
    recipe, n_seeds = trainings[0].recipe, len(seeds_of(trainings))
    n_encoders = len(trainings) // n_seeds
    times = (
        f" All of it is done {n_seeds} times, each with another *seed*: other sequences and other initial weights."
        if n_seeds > 1
        else ""
    )
    return (
        f"The task: {lower_first(TASKS[recipe.task].question)} {n_encoders} encoders learn it for {recipe.steps} steps "
        f"from the same {recipe.n_train:,} sequences.{times} Each encoder has {TRAINED.n_layers} layers of "
        f"{TRAINED.n_heads} heads, and vectors of {TRAINED.d_model} numbers."
    )


def draw_trained() -> None:
    """Draw what was trained."""
    experiment = session_experiments().get(PAGE)
    if experiment is None:
        return
    experiment_buttons.follow(follow_trained, PAGE)
    # Here and not beside the bars: a whole rerun of the page ends by putting right what the address says.
    widgets.choice(f"{PAGE}_measure", "Bars of")
    scene = make_scene(experiment.inputs, experiment.state)
    render(show_summary(scene), scene)
    st.caption(describe_trainings(experiment.inputs))


def draw_rungs(now: tuple[AblationTraining, ...] | None) -> None:
    """Draw what each rung of the trainings that the settings describe costs, and the rungs."""
    if now is None:
        return
    experiment = session_experiments().get(PAGE)
    scene = make_scene(now, experiment.state if experiment is not None and experiment.inputs == now else None)
    render(show_ladder(scene, read_options(PAGE)), scene)


def follow_trained(experiment: Experiment[AblationState]) -> None:
    """Draw how far the trainings are, and what they show by now."""
    experiment_buttons.show_progress(experiment, experiment.progress, experiment_buttons.ablation_status(experiment))
    scene = make_scene(experiment.inputs, experiment.state)
    render(show_trained(scene, read_options(PAGE)), scene)


def list_differences(trained: tuple[AblationTraining, ...], now: tuple[AblationTraining, ...]) -> list[str]:
    """What the page has now that is not what was trained."""
    before, after = plan_ladder(trained), plan_ladder(now)
    was, recipe = before.first.recipe, after.first.recipe
    differences = [f"*{name}* is gone" for name in before.names if name not in after.names]
    differences += [f"*{name}* is new" for name in after.names if name not in before.names]
    if not differences and before.names != after.names:
        differences.append("the order of the rungs")
    if was.task != recipe.task:
        differences.append(f"task {TASKS[was.task].title} → {TASKS[recipe.task].title}")
    if (before.n_seeds, was.seed) != (after.n_seeds, recipe.seed):
        differences.append("the seeds")
    return differences


def draw_rung(names: tuple[str, ...], number: int) -> None:
    """Draw a rung's buttons: what opens its encoder beside the one before, moves it, and takes it away."""
    i, name = number - 1, names[number - 1]
    left = (*names[:i], *names[number:])
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        opens = partial(_open_rung, names, number)
        help_text = (
            "Opens the page Compare: your text through this rung's encoder, beside the one before it. Both have random "
            "weights of one seed, and not those that were trained here."
        )
        if st.button("Open untrained", key=f"{PAGE}_open_{number}", on_click=opens, help=help_text, type="tertiary"):
            st.switch_page(page_named("compare"), query_params={})
        with st.popover("Move or remove", type="tertiary", key=f"{PAGE}_move_{number}"), st.container(horizontal=True):
            for word, place in (("Up", i - 1), ("Down", i + 1)):
                st.button(
                    word,
                    key=f"{PAGE}_{word.lower()}_{number}",
                    disabled=not 0 <= place < len(names),
                    on_click=_set_rungs,
                    args=((*left[:place], name, *left[place:]),),
                )
            st.button("Remove", key=f"{PAGE}_remove_{number}", on_click=_set_rungs, args=(left,))


def _set_rungs(names: tuple[str, ...]) -> None:
    st.session_state[f"{PAGE}_rungs"] = list(names)


def _open_rung(names: tuple[str, ...], number: int) -> None:
    """Set the sidebar to a rung's encoder, and pin that of the rung before."""
    configs = climb(TRAINED, names[:number])
    before, here = ({key: getattr(config, key) for key in ARCHITECTURE} for config in configs[-2:])
    values = {key: st.session_state.get(key, PARAMS[key].default) for key in SHARED}
    tokens = "word" if values["tokenizer"] == "vectors" else values["tokenizer"]
    values |= {"weights": "random", "tokenizer": tokens, "table_rows": 0}
    setup.pin(values | before)
    choose_values(values | here)


WIDGETS |= {"ladder_rung": draw_rung}
