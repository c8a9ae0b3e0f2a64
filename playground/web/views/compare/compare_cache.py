"""Caches of what the Compare page draws whatever head is open: pictures of two runs, and of two models' costs."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from playground import accounting
from playground.analysis import streams
from playground.analysis.comparison import PointDifference, compare_points
from playground.analysis.positions import ROUNDING
from playground.config import ModelConfig
from playground.figures import differences as figures
from playground.figures import norms as norm_figures
from playground.runs.arrays import Array
from playground.web.session import caches
from playground.web.session.caches import TwoRuns
from playground.web.session.weights_cache import cache_by_weights, cache_for_everybody


@dataclass(frozen=True)
class Parting:
    """How far two runs are apart at each point that both have."""

    differences: list[PointDifference]
    shares: Array
    """Of the largest number there."""
    figure: go.Figure


@dataclass(frozen=True)
class BothLengths:
    """Lengths of two runs, as `streams.lengths` has them, and their picture."""

    pinned: Mapping[str, Array]
    now: Mapping[str, Array]
    figure: go.Figure


@cache_by_weights
def find_parting(keys: TwoRuns) -> Parting:
    """Where two runs part; raises as `caches.run_sentence`."""
    differences = compare_points(*map(caches.run_sentence, keys))
    ratios = [each.largest / each.size if each.size else each.largest for each in differences]
    shares = np.array(ratios, np.float32)
    names = [each.name for each in differences]
    return Parting(differences, shares, figures.differences_on_the_way(shares, names, ROUNDING))


@cache_by_weights
def measure_lengths(keys: TwoRuns, name: str) -> BothLengths:
    """Lengths of both runs; `name` is what the picture calls the pinned one; raises as `caches.run_sentence`."""
    before, after = (streams.lengths(caches.run_sentence(key)) for key in keys)
    return BothLengths(before, after, norm_figures.norms_by_layer(after, before, name))


@cache_for_everybody()
def draw_costs(pinned: tuple[ModelConfig, int], now: tuple[ModelConfig, int], unit: str) -> go.Figure:
    """Parameters or FLOPs, by `unit`, of two models with the numbers of their tokens, in pairs of bars."""
    if unit == "parameters":
        before, after = (accounting.count_parameters(config) for config, _ in (pinned, now))
    else:
        before, after = (accounting.count_flops(config, n_tokens) for config, n_tokens in (pinned, now))
    return figures.component_pairs(before, after, unit)
