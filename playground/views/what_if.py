"""What if: changes to begin with, and what followed from those that are made: the sentence, its tokens, attention.

Legend: L layers; H heads; T tokens. NaN is what is not measured yet.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from playground.analysis.comparison import list_places, moved_weight, sentence_change, stream_change
from playground.charts import colour_scales, palette
from playground.charts.chart import (
    Axis,
    Columns,
    Control,
    Group,
    Heatmap,
    Item,
    Options,
    Panel,
    Paragraph,
    Widget,
    fill_panel,
    token_axis,
)
from playground.charts.figure import Array, Frame
from playground.charts.heads import CLICK_CELL, FOR_FINGERS, head_map, number_by_head
from playground.charts.names import escape_markdown
from playground.charts.scene import Scene
from playground.errors import TooLargeError
from playground.link.kinds import MAX_CHANGES
from playground.link.lab import Lab
from playground.link.opening import Focus, LinkedView
from playground.model.changes import Change
from playground.runs.arrays import FLOAT32_ROUNDING
from playground.runs.encoder_run import Run
from playground.views.scenes import count_changes, name_token, note_set_weights, offer_changes
from playground.views.what_if_parts import SweepKey, measure_all, show_parts, show_patches
from playground.words import say

OTHER_ROUNDING = 1.001
"""How much further a head has to move the sentence to count: one head measured twice differs by less."""

_AROUND_FOCUS = 9
"""Pixels of a frame around a single cell: it is seen around the focus's frame, and within it, if both are one."""


@dataclass(frozen=True, eq=False)
class Followed:
    """A sentence's run with changes and without, and how parts are measured."""

    lab: Lab
    numbers: Callable[[Lab, SweepKey], Array] = measure_all
    """What is measured of a sweep by now; raises TooLargeError."""

    @property
    def run(self) -> Run:
        """With the changes."""
        return self.lab.run

    @property
    def untouched(self) -> Run:
        """Without them."""
        return self.lab.without_changes.run

    @cached_property
    def moved_weight(self) -> Array:
        """Share of a token's attention that moved to other tokens: (L, H)."""
        return moved_weight(self.untouched, self.run)

    @cached_property
    def heads(self) -> Array:
        """How far the sentence moves without each head: (L · H,); NaN if these are too many."""
        try:
            return self.numbers(self.lab.without_changes, SweepKey("heads"))
        except TooLargeError:
            return np.full(1, np.nan, np.float32)


def what_if_scene(view: LinkedView) -> Scene[Followed]:
    """Return the run with its changes and without; raises as the run."""
    view.lab.run, view.lab.without_changes.run  # noqa: B018 - what cannot run is said before anything is drawn
    return Scene(Followed(view.lab), view.focus)


def show_what_if(scene: Scene[Followed], options: Options) -> Iterator[Item]:
    """Yield what followed, which parts matter, or where two sentences differ."""
    yield Control("whatif_view", say("what_if", "view"))
    if options["whatif_view"] == "what followed":
        yield from _show_followed(scene, options)
    else:
        if scene.now.lab.fitted_changes.applied:
            yield Paragraph(say("what_if", "without-changes"), "caption")
        show = show_parts if options["whatif_view"] == "which parts matter" else show_patches
        yield from show(scene.now.lab, scene.now.numbers, scene.focus, options)
    how = (Paragraph(say("what_if", f"reading-{each}")) for each in ("effect", "zero", "pattern", "patch"))
    yield Panel("", say("what_if", "how-to-read"), tuple(how))


def _show_followed(scene: Scene[Followed], options: Options) -> Iterator[Item]:
    followed, focus = scene.now, scene.focus
    case, numbers = find_verdict(followed)
    if not followed.run.interventions:
        case = "unfit" if followed.lab.fitted_changes.reasons else "off" if followed.lab.changes else "nothing"
        numbers |= {"layer": focus.layer, "head": focus.head}
    yield Paragraph(say("what_if", f"answer-{case}", **numbers), "answer")
    yield Group("examples", (_offer_first_changes(followed.lab, focus),))
    maker = (Widget("change_maker", {"lab": followed.lab, "focus": focus}),) if options["whatif_more"] else ()
    yield Panel("whatif_more", say("what_if", "more"), maker, ":material/tune:")
    if not followed.run.interventions:
        yield Group("", (_map_as_it_is(followed.run, focus),))  # it proves no answer, and so stands below the buttons
        return
    if len(followed.heads) > 1 and not np.isfinite(followed.heads).all():
        measuring = {"name": "whatif_effects", "lab": followed.lab.without_changes, "sweep": SweepKey("heads")}
        yield Group("", (Widget("measure", measuring),), is_late=True)
    yield from show_most_changed(scene)
    if find_most_changed(followed.moved_weight) is not None:
        title, icon = say("what_if", "tokens"), ":material/grid_on:"
        yield fill_panel(options, "whatif_tokens", title, lambda: (map_tokens(scene),), icon)
    title, icon = say("what_if", "chosen"), ":material/compare:"
    yield fill_panel(options, "whatif_chosen", title, lambda: show_chosen_head(scene), icon)


def _offer_first_changes(lab: Lab, focus: Focus) -> Group:
    layers = range(lab.config.n_layers) if lab.config.n_layers <= MAX_CHANGES else [focus.layer]
    query, key = (escape_markdown(name_token(lab.run.tokens, token)) for token in (focus.query, focus.key))
    cut = Change("weight", focus.layer, focus.head, (focus.query, focus.key, 0.0))
    offers = {
        say("what_if", "offer-head", layer=focus.layer, head=focus.head): [Change("zero", focus.layer, focus.head)],
        say("what_if", "offer-pair", pair=f"{query} → {key}"): [cut],
        say("what_if", "offer-hide", token=key): [Change("hide", layer, None, (focus.key,)) for layer in layers],
    }
    return offer_changes(lab, "example", offers)


def find_verdict(followed: Followed) -> tuple[str, dict[str, Any]]:
    """Return how far the sentence moved: `compared` with single heads, `moved` or, without a vector, `lost`."""
    moved = sentence_change(followed.untouched, followed.run)
    numbers: dict[str, Any] = {"moved": moved, "changes": count_changes(followed.run)}
    if not np.isfinite(moved):
        return "lost", numbers
    if not followed.run.interventions or not np.isfinite(followed.heads).all():
        return "moved", numbers
    heads, median = followed.heads, float(np.median(followed.heads))
    further = int((heads > moved * OTHER_ROUNDING).sum())
    return "compared", numbers | {"median": median, "heads": heads.size, "further": further}


def show_most_changed(scene: Scene[Followed]) -> Iterator[Item]:
    """Yield the head whose attention changed most, or how far each token moved."""
    shares = scene.now.moved_weight
    place = find_most_changed(shares)
    if place is None:
        yield Paragraph(say("what_if", "tokens"), "header")
        yield map_tokens(scene)
        return
    layer, head = place
    yield Paragraph(say("what_if", "most", layer=layer, head=head, share=float(shares[place])))
    heads = number_by_head(
        key="whatif_heads",
        values=lambda _: shares.astype(np.float32),
        caption=say("what_if", "heads.caption"),
        alt=say("what_if", "heads.alt"),
        frames=lambda _: [((layer, layer), (head, head), palette.CHANGE, _AROUND_FOCUS)],
        bar="share",
        more="more",
        number=".1%",
    )
    yield Columns(((heads,), (_map_of_difference("whatif_most", scene, layer, head),)))


def find_most_changed(shares: Array) -> tuple[int, int] | None:
    """Return the head with the largest share of moved weight, (L, H), if any."""
    if not np.isfinite(shares).all() or shares.max() <= FLOAT32_ROUNDING:
        return None
    layer, head = np.unravel_index(shares.argmax(), shares.shape)
    return int(layer), int(head)


def map_tokens(scene: Scene[Followed]) -> Heatmap[Followed]:
    """Draw how far each token's vector has moved, by depth."""
    numbers = stream_change(scene.now.untouched, scene.now.run)
    return Heatmap(
        key="whatif_vectors",
        alt=say("what_if", "vectors.alt"),
        caption=say("what_if", "vectors.caption"),
        values=lambda _: numbers,
        rows=Axis("blocks passed", place="layer", numbers=lambda _: [None, *range(len(numbers) - 1)]),
        columns=token_axis(lambda shown: shown.run.real_tokens),
        bar="moved by",
        hover="%{x} after %{y} blocks, moved, in lengths of the vector",
        more="farther",
        number=".3g",
        frames=lambda shown: _frame_changes(shown.run),
        click=say("what_if", "vectors.click"),
    )


def _frame_changes(run: Run) -> list[Frame]:
    framed = []
    for depth, token in list_places(run.interventions):
        columns, width = ((0, run.n_real - 1), 3) if token is None else ((token, token), _AROUND_FOCUS)
        framed.append(((depth, depth), columns, palette.CHANGE, width))
    return framed


def show_chosen_head(scene: Scene[Followed]) -> Iterator[Item]:
    """Yield the chosen head before, after, and the difference."""
    followed, focus = scene.now, scene.focus
    layer, head = focus.layer, focus.head
    before, after = (each.pattern(layer)[head] for each in (followed.untouched, followed.run))
    if np.abs(after - before).max() <= FLOAT32_ROUNDING:
        yield Paragraph(say("what_if", "same", layer=layer, head=head))
        yield _map_as_it_is(followed.run, focus)
        return
    told = {when: say("what_if", f"head-{when}", layer=layer, head=head) for when in ("before", "after")}
    told["after"] += note_set_weights(followed.run, layer, head)
    maps = zip(told.items(), (before, after), strict=True)
    yield Columns(
        tuple((_map_of_head(f"whatif_{when}", followed.run, focus, each, text),) for (when, text), each in maps)
    )
    yield _map_of_difference("whatif_difference", scene, layer, head)


def _map_as_it_is(run: Run, focus: Focus) -> Heatmap[Any]:
    weights = run.pattern(focus.layer)[focus.head]
    caption = say("what_if", "head-as-it-is", layer=focus.layer, head=focus.head)
    return _map_of_head("whatif_before", run, focus, weights, caption)


def _map_of_difference(key: str, scene: Scene[Followed], layer: int, head: int) -> Heatmap[Any]:
    before, after = (each.pattern(layer)[head] for each in (scene.now.untouched, scene.now.run))
    return _map_of_head(
        key,
        scene.now.run,
        replace(scene.focus, layer=layer, head=head),
        after - before,
        say("what_if", "difference", layer=layer, head=head) + note_set_weights(scene.now.run, layer, head),
        colours=colour_scales.around_zero,
        magnitude=1.0,
        bar="difference",
        click=CLICK_CELL if (layer, head) == (scene.focus.layer, scene.focus.head) else "",
    )


def _map_of_head(key: str, run: Run, focus: Focus, weights: Array, caption: str, **chart: Any) -> Heatmap[Any]:
    return head_map(
        key=key,
        alt=say("what_if", "head.alt"),
        caption=caption,
        weights=lambda _: weights,
        tokens=lambda _: run.tokens,
        allowed=lambda _: run.allowed_in(focus.layer) & ~run.padding[:, None],
        window=lambda _: run.config.window_of(focus.layer),
        visible=lambda _: ~run.padding,
        saved_as=f"{key}_layer{focus.layer}_head{focus.head}",
        **FOR_FINGERS,
        **{"click": CLICK_CELL} | chart,
    )
