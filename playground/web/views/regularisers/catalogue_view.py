"""Cards of Tutorial C's ten regularisers: what each does and where, its strength, its measured effect."""

from collections.abc import Mapping

import streamlit as st

from playground.link.params import TASK_TITLES
from playground.training.recipe import Recipe
from playground.training.regularisers.ablation_report import Effect, measure_effects
from playground.training.regularisers.catalogue import (
    REGULARISERS,
    TEN,
    Regulariser,
    explain_regulariser,
    reason_without_effect,
)
from playground.training.tasks import TASKS
from playground.web.choices import shortcuts, widgets
from playground.web.choices.setup import current_value
from playground.web.components.without_picture import scroll_to
from playground.web.session.experiments import session_experiments
from playground.web.shared.page_end import as_one_element
from playground.web.views.regularisers.ablation_plan import PAGE

WITHOUT_MASKS = (
    "A batch is as long as its longest sequence; shorter ones are filled up with [PAD]. Without the **padding mask** "
    "these get a share of the attention, and a share that depends on the neighbours: the network learns answers that "
    "hold only in company. Without the **causal mask** a network that is asked for the next character finds it one "
    "place further on in what it reads. It learns to copy it from there, its loss falls below what anybody could reach "
    "who does not know the future. In use there is no next character yet, so what it copies from is gone."
)

FAILURES = {
    "no padding mask": ("Sort", "plenty", ["Without padding mask"]),
    "no causal mask": ("Next character", "small", ["Without causal mask"]),
}
"""Settings that show the absence of a mask: the task, the amount of data, and the regulariser."""

_SETTINGS = [f"{PAGE}_{name}" for name in ("task", "data", "chosen")]
"""Keys of what `FAILURES` sets."""

_PRESSED = "_regularisers_set_up"
"""Session key that is there in the run after a press on a button that sets them."""


@as_one_element
def set_up_notice() -> None:
    """Say which absence the present settings show, if they do; after a press on its button, scroll here."""
    now = tuple(current_value(key) for key in _SETTINGS)
    for name, (task, data, chosen) in FAILURES.items():
        if now == (task, data, chosen):
            st.info(f"Set up: **{name}**. The task is {task}, and the data are {data}. Press **Start**.")
    if st.session_state.pop(_PRESSED, False):
        scroll_to(f"{PAGE}_buttons")


def catalogue() -> None:
    """Draw ten cards, in the tutorial's order, folded so that the way to a run stays short."""
    effects = _measured_effects()
    recipe = Recipe(task=TASK_TITLES[current_value(f"{PAGE}_task")])
    with st.expander("What each does, and how strong it is", icon=":material/tune:", key=f"{PAGE}_cards"):
        for number, title in TEN.items():
            _card(number, title, recipe, effects)


def _card(number: int, title: str, recipe: Recipe, effects: Mapping[str, str]) -> None:
    with st.container(border=True, gap="small", key=f"{PAGE}_card_{number}"):
        st.markdown(f"**{number} · {title}**")
        for regulariser in REGULARISERS.values():
            if regulariser.number == number:
                _row(regulariser, recipe, effects.get(regulariser.field), alone=regulariser.title == title)
        if number == 2:
            st.markdown(WITHOUT_MASKS)
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown("Set up above:", width="content")
                for name in FAILURES:
                    key = f"{PAGE}_show_{name.replace(' ', '_')}"
                    st.button(name, key=key, on_click=_set_up, args=(name,))


def _row(regulariser: Regulariser, recipe: Recipe, effect: str | None, *, alone: bool) -> None:
    norm = shortcuts.unlocked_norm()
    explanation, strength, effects = st.columns([6, 4, 5], gap="medium")
    with explanation, st.container(gap="xsmall"):
        told = explain_regulariser(regulariser, norm)
        st.markdown(told if alone else f"**{regulariser.title}.** {told}")
        st.caption(f"Where: {regulariser.where}.")
    with strength:
        if regulariser.on_by_default:
            reason = reason_without_effect(regulariser, recipe, norm)
            on = f"On in every run, unless “{regulariser.choice}” is chosen above: then one run goes without."
            st.caption(f"It changes nothing here: {reason}." if reason else on)
        else:
            widgets.draw(f"{PAGE}_{regulariser.field}", f"{regulariser.scale} · `{regulariser.field}`")
        if regulariser.field == "distill":
            widgets.size(f"{PAGE}_temperature", "temperature of both, before they are compared · `temperature`")
    with effects:
        st.caption(effect or "Not measured yet: choose it above, and start.")


def _set_up(name: str) -> None:
    st.session_state.update(dict(zip(_SETTINGS, FAILURES[name], strict=True)) | {_PRESSED: True})


def _measured_effects() -> dict[str, str]:
    """Sentences on the regularisers that the session's ablation has measured by now, by field."""
    experiment = session_experiments().get(PAGE)
    ablation = None if experiment is None else experiment.state
    effects = measure_effects(ablation.results) if ablation is not None else {}
    return {
        name: _effect_sentence(REGULARISERS[name], effect) for name, effect in effects.items() if name in REGULARISERS
    }


def _effect_sentence(regulariser: Regulariser, effect: Effect) -> str:
    """Strength, task and effect of a run that has ended, and the effect's spread over several seeds."""
    recipe = effect.training.recipe
    how = "Without it" if regulariser.on_by_default else f"At {regulariser.strength_in(recipe):g}"
    spreads = ("", "")
    if effect.n_seeds > 1:
        spreads = f" (spread {100 * effect.accuracy_spread:.1f})", f" (spread {effect.loss_spread:.2f})"
        how += f", mean of {effect.n_seeds} seeds"
    return (
        f"{how}, on “{TASKS[recipe.task].title}” with {recipe.n_train:,} sequences: right answers "
        f"**{100 * effect.accuracy_change:+.1f} points**{spreads[0]}, loss **{effect.loss_change:+.2f} nats**"
        f"{spreads[1]}, gap {100 * effect.gap_change:+.1f} points."
    )
