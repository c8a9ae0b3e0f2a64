"""Which pages take long to compute and to draw, or much memory: they hold the long place, one of them at a time."""

from collections.abc import Iterator
from contextlib import contextmanager

from playground.accounting import count_flops, count_parameters
from playground.analysis.gradient_flow.gradient_variants import LONGEST, VARIANTS, common_config
from playground.config import ModelConfig
from playground.errors import BusyError, PlaygroundError
from playground.runs.budget import MAX_KEPT, count_kept
from playground.web.choices.setup import Setup, current_setup, current_value, pinned_setup
from playground.web.session.services import services

LONG = 0.5
"""Seconds of computing from which a page is long, about."""

MUCH = 4_000_000
"""Numbers in a run from which a page takes much memory: 16 MB in fp32, and several times that once it is drawn."""

_OPERATIONS, _DRAWN = 50e9, 200e6
"""What one thread does in a second, about: floating-point operations, and random numbers that it draws."""

_WITHOUT_RUN = frozenset({"parameters", "training", "regularisers", "tutorials"})
"""Pages that run no encoder on the visitor's text, by their paths."""

_VARIANTS_TOGETHER = 24
"""Of a sentence's run, on the page What if: as many as it measures in one turn."""

_TEXT_PASSES = 3.0
"""Passes of each sentence that a page asks for: with changes, without, and through one layer once more."""


@contextmanager
def hold_long_place(page: str) -> Iterator[None]:
    """Hold the long place while a page, by its path, is computed and drawn, if it is a long one.

    Raises:
        BusyError: the place did not come free in time.
    """
    if is_long(page):
        with services().turns.hold_long_place():
            yield
    else:
        yield


def is_long(page: str) -> bool:
    """Whether a page takes long, or much memory, with the visitor's choices; what it will refuse takes neither."""
    if page in _WITHOUT_RUN:
        return False
    try:
        return any(_is_long(page, setup) for setup in (current_setup(), pinned_setup()) if setup is not None)
    except BusyError:
        raise
    except PlaygroundError:  # the page itself will say what is wrong
        return False


def _is_long(page: str, setup: Setup) -> bool:
    if not setup.text.sentences:  # nothing is run
        return False
    config, (n_sentences, n_tokens) = setup.config, setup.batch.ids.shape
    if page == "gradient-flow":
        return _seconds_of_gradients(config, n_tokens, setup["seed"]) > LONG
    kept = count_kept(config, n_tokens)
    if _is_refused(config) or kept > MAX_KEPT:
        return False
    if page == "similarity":
        n_sentences += current_value("similarity_list").count("\n") + 1
    passes = _VARIANTS_TOGETHER if page == "what-if" else _TEXT_PASSES
    work = (passes + n_sentences) * count_flops(config, n_tokens).total
    n_drawn = _n_drawn(config, setup["seed"]) if setup.weights == "random" else 0
    if page == "encoder-decoder" and setup.weights == "random":
        n_drawn = 2 * count_parameters(config).total  # of which none is shared with other pages
    return kept > MUCH or work / _OPERATIONS + n_drawn / _DRAWN > LONG


def _seconds_of_gradients(config: ModelConfig, n_tokens: int, seed: int) -> float:
    """Of a forward and a backward pass, the work of three, through every variant; of the sweep, as much again."""
    config = common_config(config, current_value("gradient_layers"))
    if _is_refused(config):
        return 0.0
    views = 2 if current_value("gradient_view") == "depth sweep" else 1
    work = views * 3 * len(VARIANTS) * count_flops(config, min(n_tokens, LONGEST)).total
    return work / _OPERATIONS + _n_drawn(config, seed) / _DRAWN


def _is_refused(config: ModelConfig) -> bool:
    return count_parameters(config).total > services().settings.max_parameters


def _n_drawn(config: ModelConfig, seed: int) -> int:
    return services().random_weights.n_missing(config, seed)
