"""Every page that is a view, by its path."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from playground.charts.chart import Item, Options
from playground.charts.scene import Scene
from playground.link.opening import LinkedView
from playground.views.attention import attention_scene, show_attention
from playground.views.bug_lab import lab_scene, show_bug_lab
from playground.views.compare import show_compare
from playground.views.encoder_decoder import pair_scene, show_encoder_decoder
from playground.views.gradient_flow import gradient_scene, show_gradient_flow
from playground.views.norms import show_norms
from playground.views.overview import overview_scene, show_overview
from playground.views.parameters import parameters_scene, show_parameters
from playground.views.parts import parts_scene, show_parts
from playground.views.positions import positions_scene, show_positions
from playground.views.scenes import run_scene
from playground.views.similarity import sentences_scene, show_similarity
from playground.views.steps import show_steps, walk_scene
from playground.views.tutorials import show_tutorials, tutorials_scene
from playground.views.what_if import show_what_if, what_if_scene


@dataclass(frozen=True)
class View:
    """A page's view."""

    show: Callable[[Scene[Any], Options], Iterator[Item]]
    scene: Callable[[LinkedView], Scene[Any]]
    """What it looks at where a link is opened without the app; raises as the link's run."""


VIEWS: Mapping[str, View] = {
    "overview": View(show_overview, overview_scene),
    "attention": View(show_attention, attention_scene),
    "norms": View(show_norms, run_scene),
    "parameters": View(show_parameters, parameters_scene),
    "what-if": View(show_what_if, what_if_scene),
    "similarity": View(show_similarity, sentences_scene),
    "compare": View(show_compare, run_scene),
    "step-by-step": View(show_steps, walk_scene),
    "positions": View(show_positions, positions_scene),
    "encoder-decoder": View(show_encoder_decoder, pair_scene),
    "parts": View(show_parts, parts_scene),
    "gradient-flow": View(show_gradient_flow, gradient_scene),
    "bug-lab": View(show_bug_lab, lab_scene),
    "tutorials": View(show_tutorials, tutorials_scene),
}
"""By the pages' paths, in the order of the menu."""
