"""What is on the screen, to take along: the encoder and its sentence, both halves and a pair, a training run."""

from collections.abc import Callable

import streamlit as st

from playground.config import ModelConfig
from playground.errors import InputError
from playground.export.code import Place, export_pair, export_run, export_training
from playground.export.written import Export, save_weights
from playground.link.lab import Lab, find_pair, run_pair
from playground.training.recipe import Recipe
from playground.web.choices.setup import current_focus, current_setup, current_value
from playground.web.session import caches
from playground.web.session.experiments import training_data
from playground.web.session.services import services
from playground.web.shared.renderer import session_view
from playground.web.views.training import make_plan


def _export_encoder() -> Export:
    setup = _setup_with_text()
    run = caches.run_sentence(setup.untouched_key)
    focus = current_focus(run)
    is_own = setup.weights not in ("random", "minilm")
    return export_run(
        run,
        setup.batch,
        setup.sentence,
        seed=setup["seed"],
        weights="file" if is_own else setup.weights,
        tokenizer=caches.tokenizer(setup.text_key).name,
        causal=setup["causal"],
        place=Place(focus.layer, focus.head, focus.query),
        own_weights=save_weights(caches.encoder(setup.weights, run.config, setup["seed"])) if is_own else None,
    )


def _export_pair() -> Export:
    is_example = current_value("encdec_source") == "trained example"
    setup = current_setup() if is_example else _setup_with_text()
    pair = find_pair(setup, session_view("encoder-decoder").values)
    widgets = "encdec_example" if is_example else "encdec"
    trained = caches.APP.trained_pair(pair.weights)
    own = None if trained is None else save_weights(trained)
    place = Place(current_value(f"{widgets}_layer"), current_value(f"{widgets}_head"))
    n_words = caches.tokenizer(pair.target).vocab_size
    return export_pair(run_pair(caches.APP, pair), n_words, seed=pair.seed, place=place, own_weights=own)


@st.cache_resource(max_entries=8, show_spinner=False)
def _export_training(config: ModelConfig, recipe: Recipe) -> Export:
    with services().turns.take():
        return export_training(config, recipe, training_data(recipe))


def _setup_with_text() -> Lab:
    setup = current_setup()
    if not setup.text.sentences:
        raise InputError("Type a sentence into “Your text”: the file is about what the encoder does with it.")
    return setup


VARIANTS: dict[str, Callable[[], Export]] = {
    "encoder": _export_encoder,
    "encoder–decoder": _export_pair,
    "training run": lambda: _export_training(*make_plan()),
}
"""By title; each raises PlaygroundError if it can't be written down."""
