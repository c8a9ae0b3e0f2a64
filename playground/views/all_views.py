"""Every page that is a view, by its path: what it shows, and what a link's scene of it is."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from playground.analysis.comparison import have_same_tokens
from playground.analysis.walkthrough import Walk
from playground.charts.chart import Item, Options
from playground.charts.scene import Scene
from playground.errors import PlaygroundError
from playground.link.opening import Focus, LinkedView
from playground.runs.encoder_run import Run, trace_layer
from playground.views.gradient_flow import linked_encoders, show_gradient_flow
from playground.views.norms import show_norms
from playground.views.step_by_step import compare_walks, nearest_focus, show_steps
from playground.views.tutorials import linked_tutorials, show_tutorials


@dataclass(frozen=True)
class View:
    """A page's view."""

    show: Callable[[Scene[Any], Options], Iterator[Item]]
    scene: Callable[[LinkedView], Scene[Any]]
    """What it looks at where a link is opened without the app; raises as the link's run."""


def run_scene(view: LinkedView) -> Scene[Run]:
    """The run that a link shows, and the pinned one where it can be had."""
    pinned = None
    if view.pinned is not None:
        try:
            pinned = view.pinned.run
        except PlaygroundError:  # the present run is shown alone, as on the page
            pinned = None
    if pinned is None:
        return Scene(view.run, view.focus)
    return Scene(view.run, view.focus, pinned, "pinned", "now", have_same_tokens(view.run, pinned))


def walk_scene(view: LinkedView) -> Scene[Walk]:
    """The walk that a link's focus chooses, and the pinned one where it can be had through the same tokens."""
    runs, now = run_scene(view), _walk(view, view.focus)
    if view.pinned is None or runs.pinned is None or not runs.same_tokens:
        return compare_walks(now, None, "")
    return compare_walks(now, _walk(view.pinned, nearest_focus(runs.pinned, view.focus)), runs.pinned_name)


def _walk(view: LinkedView, focus: Focus) -> Walk:
    changes = view.changes.applied
    layer = trace_layer(
        view.encoder, view.batch, view.sentence, focus.layer, seed=view.seed, causal=view.causal, interventions=changes
    )
    return Walk(layer, focus.head, focus.query, focus.key)


VIEWS: Mapping[str, View] = {
    "gradient-flow": View(show_gradient_flow, linked_encoders),
    "norms": View(show_norms, run_scene),
    "step-by-step": View(show_steps, walk_scene),
    "tutorials": View(show_tutorials, linked_tutorials),
}
"""By the pages' paths."""
