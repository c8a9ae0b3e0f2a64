"""The page's sliders, and caches of the comparison of six encoders: they keep norms of gradients, never a model."""

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache

import streamlit as st
from torch import Tensor

from playground.accounting.readable import duration
from playground.analysis.gradient_variants import (
    BY_NAME,
    LONGEST,
    Comparison,
    DepthNorms,
    Variant,
    check_layers,
    common_config,
    compare,
    draw_vocabulary,
    scale_weights,
    sweep_variants,
)
from playground.charts.scene import Scene
from playground.config import ModelConfig
from playground.errors import PlaygroundError
from playground.link import query
from playground.link.state import TextKey
from playground.model import Encoder
from playground.training.kept_run import list_changed_settings
from playground.training.variants import VariantRun, VariantsState
from playground.views.gradient_flow import LAYERS, SixEncoders, list_depths, show_gradient_flow
from playground.views.gradient_training import (
    SIZES,
    ask_question,
    pair_recipe,
    pair_trainings,
    show_pair,
)
from playground.views.variant_curves import WatchedVariants
from playground.web.choices import widgets
from playground.web.choices.setup import Setup, current_setup, current_value
from playground.web.session import caches
from playground.web.session.experiments import (
    Experiment,
    join_variants,
    seconds_of,
    session_experiments,
    training_data,
)
from playground.web.session.services import services
from playground.web.session.weights_cache import cache_for_everybody
from playground.web.shared import experiment_buttons, panels
from playground.web.shared.focus_line import keep_answer_place
from playground.web.shared.page_end import as_one_element, fragment
from playground.web.shared.renderer import read_options, render


@dataclass(frozen=True)
class ComparisonKey:
    """Everything that the page's numbers depend on; hashable, as the key of the caches."""

    text: TextKey
    """Its sentences are cut after `LONGEST` tokens."""
    sentence: int
    config: ModelConfig
    """What the six encoders share."""
    seed: int
    scale: float
    """A factor on the random weights of the linear maps."""
    causal: bool


def build_key(setup: Setup, n_layers: int, scale: float) -> ComparisonKey:
    """The key of the sidebar's choices and the page's own; there has to be a sentence."""
    text = replace(setup.text_key, max_tokens=min(setup.text_key.max_tokens, LONGEST))
    config = replace(setup.config, vocab_size=setup.random_table_rows)
    return ComparisonKey(text, setup.sentence, common_config(config, n_layers), setup["seed"], scale, setup["causal"])


@cache_for_everybody(max_entries=24)
def compare_variants(key: ComparisonKey) -> Comparison:
    """The six encoders at their full depth.

    Raises:
        TooLargeError: each would have more parameters than this server runs.
        BusyError: no turn came free.
        InputError: a tokenizer has no word for the text, or the position table leaves no room for its special tokens.
    """
    check_layers(key.config, services().settings.max_parameters)
    ids, vectors, depth = _token_ids(key), _draw_vocabulary(key), key.config.n_layers
    with services().turns.hold_long_place():
        return compare(
            key.config,
            key.seed,
            ids,
            (depth,),
            vectors=vectors,
            scale=key.scale,
            causal=key.causal,
            device=services().device,
            weights=_weights(key),
        )


@cache_for_everybody(max_entries=12)
def compare_depths(key: ComparisonKey) -> DepthNorms:
    """The first layer's gradient norms in the six, at `SWEEP_DEPTHS` and at their full depth.

    Raises as `compare_variants`.
    """
    full, n_layers = compare_variants(key).full_depth, key.config.n_layers
    shallow = _sweep(key, list_depths(n_layers)[:-1])
    last = {
        variant: {part: float(norms[0]) for part, norms in flow.gradients.items()} for variant, flow in full.items()
    }
    return {variant: {**shallow.get(variant, {}), n_layers: norms} for variant, norms in last.items()}


def _sweep(key: ComparisonKey, depths: tuple[int, ...]) -> DepthNorms:
    """Return the norms at depths below the page's own."""
    if not depths:
        return {}
    device, vectors = services().device, _draw_vocabulary(key)
    with services().turns.take():
        return sweep_variants(
            _weights(replace(key, config=replace(key.config, n_layers=depths[-1]))),
            _token_ids(key).to(device),
            depths,
            vectors=None if vectors is None else vectors.to(device),
            causal=key.causal,
        )


def _weights(key: ComparisonKey) -> Encoder:
    """The weights that the six share, of random tensors that other pages may have drawn already."""
    return scale_weights(caches.encoder("random", key.config, key.seed), key.scale)


def _token_ids(key: ComparisonKey) -> Tensor:
    """The sentence's tokens without padding: (T,) int64."""
    batch = caches.tokenize(key.text)
    return batch.ids[key.sentence][batch.mask[key.sentence]]


def _draw_vocabulary(key: ComparisonKey) -> Tensor | None:
    return draw_vocabulary(caches.tokenizer(key.text), key.config, key.seed)


@as_one_element
def check_text() -> None:
    """What had to be cut from the text; ends the page where there is no sentence."""
    setup = current_setup()
    panels.require_text(setup, "Type a sentence into “Your text”: the loss is about naming its next tokens.")
    with panels.explain_errors():
        text = build_key(setup, 1, 1.0).text
        cut = caches.tokenize(text).truncated[setup.sentence]
    if cut:
        st.info(
            f"The first {text.max_tokens} tokens of the sentence take part; {cut} more are left out.",
            icon=":material/content_cut:",
        )


PAGE = "gradient-flow"


def chosen_pair() -> tuple[Variant, ...]:
    """The two encoders of the page, or one where both are the same."""
    return tuple(dict.fromkeys(BY_NAME[current_value(f"gradient_{which}")] for which in ("first", "second")))


def plan_pair() -> tuple[VariantRun, ...]:
    """The training of the chosen pair; raises ConfigError, RecipeError."""
    recipe = pair_recipe(current_value("seed"))
    data = training_data(recipe)
    config = query.model_config({**current_setup().values, **SIZES}, vocab_size=1)
    return pair_trainings(config, chosen_pair(), recipe, data)


def train_both() -> None:
    """Draw what trains the two chosen encoders, and what they have learnt by now."""
    plan = experiment_buttons.plan_or_error(plan_pair)
    # The choice is drawn in a fragment of its own, which may have run since: what counts is the one at the click.
    experiment_buttons.draw_buttons(PAGE, plan, lambda _: join_variants(plan_pair()), start="Start both")
    if plan is not None and session_experiments().get(PAGE) is None:
        st.caption(f"About **{duration(seconds_of(plan))}** here.")
    experiment_buttons.follow(follow_pair, PAGE)


def note_other_pair() -> None:
    """Draw that what was trained is not what the page has now, where it is not."""
    experiment = session_experiments().get(PAGE)
    if experiment is None:
        return
    with suppress(PlaygroundError):  # `train_both` says what is wrong with the present pair
        trained, now = experiment.inputs, plan_pair()
        if trained == now:
            return
        chosen = " and ".join(f"*{each.title}*" for each in now)
        differences = (
            [f"{chosen} are chosen now"] if {each.title for each in trained} != {each.title for each in now} else []
        )
        for old, new in zip(trained, now, strict=False):
            if old.title == new.title:
                settings = ((each.config, each.recipe) for each in (old, new))
                differences += list_changed_settings(*settings)
        st.info(experiment_buttons.untrained_sentence(list(dict.fromkeys(differences))))


def follow_pair(experiment: Experiment[VariantsState]) -> None:
    """Draw how far both are, and what they have learnt."""
    status = experiment_buttons.variants_status(experiment)
    experiment_buttons.show_progress(experiment, experiment.job.progress, status)
    state, data = experiment.state, training_data(experiment.inputs[0].recipe)
    if state is not None:
        scene = Scene(WatchedVariants(state, data, experiment.in_progress))
        render(show_pair(scene), scene)


@fragment
def explore_gradient_flow() -> None:
    """The answer, the page's choices, and all that they redraw."""
    keep_answer_place()
    with st.container(key="gradient_choices"):
        columns = st.columns(2, gap="medium")
    with columns[0]:
        widgets.menu("gradient_first", "One encoder")
    with columns[1]:
        widgets.menu("gradient_second", "Another")
    setup, n_layers = current_setup(), current_value("gradient_layers")
    with panels.explain_errors():
        key = build_key(setup, n_layers, current_value("gradient_scale"))
        try:
            with st.spinner(f"Six encoders of {n_layers} layers, forwards and backwards …"):
                comparison = compare_variants(key)
        except PlaygroundError:
            widgets.draw(LAYERS.key, LAYERS.label, high=LAYERS.high)
            raise

    def sweep() -> DepthNorms:
        with panels.explain_errors(), st.spinner("The same six at every depth …"):
            return compare_depths(key)

    six = SixEncoders(
        comparison,
        cache(sweep),
        has_random_weights=setup["weights"] == "random",
        has_norms=setup["norm"] != "none",
    )
    scene = Scene(six)
    render(show_gradient_flow(scene, read_options("gradient")), scene)
    st.markdown(ask_question(chosen_pair()))
    note_other_pair()
