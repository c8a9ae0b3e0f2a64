"""What the page Positions has beside its view: the position tables and the swap of two words, in caches."""

from playground.analysis import positions
from playground.analysis.comparison import have_same_tokens
from playground.charts.scene import Scene
from playground.config import ModelConfig
from playground.errors import PlaygroundError
from playground.limits import MAX_TOKENS
from playground.link.opening import Focus
from playground.runs.arrays import Array
from playground.runs.budget import check_budget
from playground.runs.encoder_run import Run
from playground.views import positions as view
from playground.web.choices.focus import current_focus
from playground.web.choices.setup import Setup, current_setup, is_random
from playground.web.session import caches
from playground.web.session.caches import RunKey
from playground.web.session.services import services
from playground.web.session.weights_cache import WeightsId, cache_by_weights
from playground.web.shared import panels
from playground.web.shared.focus_line import draw_focus
from playground.web.shared.page_end import fragment
from playground.web.shared.pinning import pinned_side_without_changes, run_pinned
from playground.web.shared.renderer import read_options, render


@cache_by_weights
def position_rows(weights: WeightsId, config: ModelConfig, seed: int) -> Array:
    """The position table's first rows, for the longest sentence there may be, as `positions.first_rows` gives them."""
    check_budget(config, services().settings.max_parameters)
    with services().turns.take():
        return positions.first_rows(caches.encoder(weights, config, seed), MAX_TOKENS)


@cache_by_weights
def distance_curves(weights: WeightsId, config: ModelConfig, seed: int) -> Array:
    """What the encoder makes of distances, as `positions.by_distance` gives it."""
    check_budget(config, services().settings.max_parameters)
    with services().turns.take():
        return positions.by_distance(caches.encoder(weights, config, seed), view.MAX_DISTANCE)


@cache_by_weights
def swap_words(key: RunKey, first: int, second: int) -> positions.Swap:
    """Exchange the tokens at two positions of a sentence, without the key's changes; raises as `run_sentence`."""
    with caches.turn_on_text(key) as (model, batch):
        return positions.swap_words(model, batch, key.sentence, first, second, seed=key.seed, causal=key.causal)


@fragment
def explore_positions() -> None:
    """What the page shows; where the closer view is of the focus, its line too."""
    run, options = panels.shown_run(changed=False), read_options("positions")
    has_focus = options["positions_closer"] and options["positions_view"] in ("this sentence", "similarity")
    scene = _compared_scene(run, draw_focus(run) if has_focus else current_focus(run))
    with panels.explain_errors():
        render(view.show_positions(scene, options), scene)


def _compared_scene(run: Run, focus: Focus) -> Scene[view.PlacedWords]:
    with panels.explain_errors():
        now = _place_words(current_setup(), run)
    side = pinned_side_without_changes()
    if side is None:
        return Scene(now, focus)
    try:
        pinned = _place_words(side.setup, run_pinned(side))
    except PlaygroundError:  # their model is too large to be built here
        return Scene(now, focus)
    same_tokens = pinned.run is None or have_same_tokens(run, pinned.run)
    return Scene(now, focus, pinned, side.name, side.now, same_tokens)


def _place_words(setup: Setup, run: Run | None) -> view.PlacedWords:
    rows = position_rows(setup.weights, setup.config, setup["seed"])
    curves = distance_curves(setup.weights, setup.config, setup["seed"])

    def swap(first: int, second: int) -> positions.Swap:
        return swap_words(setup.untouched_key, first, second)

    return view.PlacedWords(setup.config, rows, run, swap, setup["causal"], is_random(setup.weights), curves)
