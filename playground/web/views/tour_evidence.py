"""What a tour may compute of this session's run, in the app's caches."""

from collections.abc import Sequence

from playground.errors import InputError
from playground.learn.tour import Evidence
from playground.model.changes import Change
from playground.runs.encoder_run import Run
from playground.training.answers import Head, Reversal, first_sequences, measure_reversal
from playground.training.trained_network import TrainedNetwork
from playground.views.attention.explanation import HeadsRun
from playground.web.choices.focus import current_focus, settle_tokens
from playground.web.choices.setup import Setup, current_setup
from playground.web.session import caches, trained_slot
from playground.web.session.experiments import validation_data
from playground.web.session.services import services
from playground.web.session.weights_cache import cache_in_session
from playground.web.shared import tour
from playground.web.views.similarity import compare_sentences


def gather_evidence() -> Evidence:
    """What a tour may ask of the session as it is now; nothing is computed before it is asked for."""
    setup = _without_changes(current_setup())
    return Evidence(
        state=tour.current_state(),
        heads=lambda: _run_heads(setup),
        find_focus=lambda: current_focus(_run(setup)),
        run_changed=lambda changes: _run_changed(setup, changes),
        compare_sentences=lambda sentences: compare_sentences(setup, sentences),
        measure_reversal=lambda off: _measure_reversal(tuple(off)),
        find_trained=lambda: trained_slot.session_slot().trained,
    )


def _without_changes(setup: Setup) -> Setup:
    return setup.without_changes


def _run(setup: Setup) -> Run:
    """The run; query and key are those of its text from now on, as on a page."""
    if not setup.text.sentences:
        raise InputError("There is no text yet: type a sentence first.")
    run = caches.run_sentence(setup.run_key)
    settle_tokens(run)
    return run


def _run_heads(setup: Setup) -> HeadsRun:
    return HeadsRun(setup, _run(setup))


def _run_changed(setup: Setup, changes: Sequence[Change]) -> Run:
    return caches.run_sentence(setup.run_key._replace(interventions=tuple(changes)))


def _measure_reversal(off: tuple[Head, ...]) -> Reversal:
    trained = trained_slot.session_slot().trained
    if trained is None:
        raise InputError("There is no trained network yet: train one on the page Training first.")
    return _cached_reversal(trained, off)


@cache_in_session(max_entries=4)
def _cached_reversal(trained: TrainedNetwork, off: tuple[Head, ...]) -> Reversal:
    examples = first_sequences(validation_data(trained.recipe).validation)
    with services().turns.take():
        return measure_reversal(trained, examples, off)
