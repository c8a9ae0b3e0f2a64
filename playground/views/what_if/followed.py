"""What followed from changes of the computation: the sentence, its tokens, and attention.

Legend: L layers; H heads; T tokens; N sentences.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, cast

import numpy as np
import pandas as pd

from playground.analysis.comparison import list_places, moved_weight, sentence_change, stream_change
from playground.analysis.sentences import Pooling, sentence_vector
from playground.analysis.streams import cosine_between_tokens
from playground.charts import colour_scales, palette
from playground.charts.chart import Axis, Columns, Control, Group, Heatmap, Item, Options, Paragraph, Table, fill_panel
from playground.charts.chart import token_axis as axis_of_tokens
from playground.charts.colour_scales import Colours
from playground.charts.figure import Array, Frame
from playground.charts.head_map import CLICK_CELL, FOR_FINGERS, head_map, number_by_head
from playground.charts.scene import Scene
from playground.link.lab import Lab, compute_run
from playground.link.opening import Focus, LinkedView
from playground.runs.arrays import FLOAT32_ROUNDING
from playground.runs.encoder_run import Run
from playground.views.change_names import count_changes, note_set_weights
from playground.words import say

MUCH, LITTLE = 2.0, 0.5
"""How many times the median head's effect is called much, and from where down little."""

OTHER_ROUNDING = 1.001
"""How much further a head has to move the sentence to count: one head measured twice differs by less."""

_AROUND_FOCUS = 9
"""Pixels of a frame around a single cell: it is seen around the focus's frame, and within it, where both are one."""


@dataclass(frozen=True, eq=False)
class Followed:
    """A sentence's run with changes and without them."""

    lab: Lab
    run: Run
    untouched: Run
    heads: Array | None = None
    """How far the sentence moves without each head alone, (L, H); None if it is not known of all of them."""

    @cached_property
    def moved_weight(self) -> Array:
        """The share of a token's attention that has moved to other tokens, by head: (L, H)."""
        return moved_weight(self.untouched, self.run)

    def similarities(self, pooling: Pooling) -> tuple[Array, Array]:
        """The cosines between the vectors of the text's sentences before and after, (N, N) each."""
        before, after = (
            [pool_sentence(lab, i, pooling) for i in range(len(lab.text.sentences))]
            for lab in (self.lab.without_changes, self.lab)
        )
        return cosine_between_tokens(np.stack(before)), cosine_between_tokens(np.stack(after))


def pool_sentence(lab: Lab, sentence: int, pooling: Pooling) -> Array:
    """Return one of the text's sentences as one vector, (D,); raises as `Lab.run`."""
    key, source = lab.key_of(sentence), lab.source
    return source.remember(pool_sentence, (key, pooling), lambda: sentence_vector(compute_run(source, key), pooling))


def follow(lab: Lab) -> Followed:
    """Return the lab's run with its changes and without them."""
    return Followed(lab, lab.run, lab.without_changes.run)


def followed_scene(view: LinkedView) -> Scene[Followed]:
    """Return the view's run with its changes and without them; raises as the run."""
    return Scene(follow(view.lab), view.focus)


def show_followed(scene: Scene[Followed], options: Options) -> Iterator[Item]:
    """What followed from the changes; what a page measures while it is looked at is left to the page."""
    followed, focus = scene.now, scene.focus
    if options["whatif_view"] != "what followed":
        yield Paragraph(say("what_if", "live", view=options["whatif_view"]))
    elif not followed.run.interventions:
        case = find_why_nothing(followed.lab)
        yield Paragraph(say("what_if", f"answer-{case}", layer=focus.layer, head=focus.head), "answer")
        yield Group("", (_map_as_it_is(followed.run, focus),))  # it proves no answer, and so stands below the buttons
    else:
        case, numbers = find_verdict(followed)
        yield Paragraph(say("what_if", f"answer-{case}", **numbers), "answer")
        yield from show_most_changed(scene, options)
        yield from show_details(scene, options)


def find_why_nothing(lab: Lab) -> str:
    """Return why a lab's run has no changes: `unfit`, `off`, or there is `nothing`."""
    return "unfit" if lab.fitted_changes.reasons else "off" if lab.changes else "nothing"


def find_verdict(followed: Followed) -> tuple[str, dict[str, Any]]:
    """How far the changes moved the sentence (the mean of its tokens' vectors), and whether that is much.

    `compared` with single heads where these are known, else `moved`; `lost` where a vector is 0 or not finite.
    """
    moved, heads = float(sentence_change(followed.untouched, followed.run).relative), followed.heads
    numbers: dict[str, Any] = {"moved": moved, "changes": count_changes(followed.run)}
    if not np.isfinite(moved):
        return "lost", numbers
    if heads is None or not np.isfinite(heads).all():
        return "moved", numbers
    median, further = float(np.median(heads)), int((heads > moved * OTHER_ROUNDING).sum())
    size = "much" if moved >= MUCH * median else "little" if moved < LITTLE * median else "alike"
    return "compared", numbers | {"size": size, "median": median, "heads": heads.size, "further": further}


def show_most_changed(scene: Scene[Followed], options: Options) -> Iterator[Item]:
    """The head whose attention has changed most, among all heads; where none has changed, how far each token moved."""
    shares = scene.now.moved_weight
    place = find_most_changed(shares)
    if place is None:
        yield Paragraph(say("what_if", "tokens"), "header")
        yield from show_tokens(scene, options)
        return
    layer, head = place
    yield Paragraph(say("what_if", "most", layer=layer, head=head, share=float(shares[place])))
    heads = map_of_heads(
        "whatif_heads",
        shares,
        caption=say("what_if", "heads.caption"),
        alt=say("what_if", "heads.alt"),
        frames=lambda _: [Frame((layer, layer), (head, head), palette.CHANGE, _AROUND_FOCUS)],
        bar="share",
        number=".1%",
    )
    yield Columns(((heads,), (_map_of_difference("whatif_most", scene, layer, head),)))


def find_most_changed(shares: Array) -> tuple[int, int] | None:
    """The head whose share of moved weight, (L, H), is largest; None where none moved any, or not all are finite."""
    if not np.isfinite(shares).all() or shares.max() <= FLOAT32_ROUNDING:
        return None
    layer, head = np.unravel_index(shares.argmax(), shares.shape)
    return int(layer), int(head)


def show_details(scene: Scene[Followed], options: Options) -> Iterator[Item]:
    """Panels: every token, the sentence's vector, and the chosen head with and without the changes."""

    def panel(key: str, title: str, show: Callable[[], Iterator[Item]], icon: str, *closed: Item) -> Item:
        return fill_panel(options, f"whatif_{key}", title, show, f":material/{icon}:", closed)

    if find_most_changed(scene.now.moved_weight) is not None:
        title = say("what_if", "tokens")
        yield panel("tokens", title, lambda: show_tokens(scene, options), "grid_on", _measure())
    yield panel("sentence", say("what_if", "sentence"), lambda: show_sentences(scene, options), "notes", _pooling())
    yield panel("chosen", say("what_if", "chosen"), lambda: show_chosen_head(scene), "compare")


def _measure() -> Control:
    return Control("whatif_measure", say("what_if", "measure"))


def _pooling() -> Control:
    return Control("whatif_pooling", say("what_if", "pooling"), say("what_if", "pooling.help"))


def show_sentences(scene: Scene[Followed], options: Options) -> Iterator[Item]:
    """How far the sentence's vector has moved, and every pair of sentences before and after."""
    followed, pooling = scene.now, cast(Pooling, options["whatif_pooling"])
    change = sentence_change(followed.untouched, followed.run, pooling)
    yield _pooling()
    yield Paragraph(say("what_if", "vector", cosine=float(change.cosine), moved=float(change.relative)))
    if pooling == "mean with padding":
        padding = {"padding": int(followed.run.padding.sum()), "tokens": len(followed.run.tokens)}
        yield Paragraph(say("what_if", "padded", **padding), "caption")
    if len(followed.lab.text.sentences) == 1:
        yield Paragraph(say("what_if", "one-sentence"), "caption")
        return
    formats = {"before": "%.4f", "after": "%.4f", "after − before": "%+.4f"}
    table = Table[Followed](
        key="whatif_similarities",
        frame=lambda shown: list_pairs_of_sentences(*shown.similarities(pooling)),
        formats=formats,
        shows_index=False,
    )
    yield Group("whatif_pairs_of_sentences", (table, Paragraph(say("what_if", "similarities"), "caption")))


def list_pairs_of_sentences(before: Array, after: Array) -> pd.DataFrame:
    """Every two sentences' similarity before and after, the largest change first."""
    pairs = list(combinations(range(len(before)), 2))
    old, new = (np.array([similarity[pair] for pair in pairs]) for similarity in (before, after))
    names = [f"{one + 1} and {two + 1}" for one, two in pairs]
    table = pd.DataFrame({"sentences": names, "before": old, "after": new, "after − before": new - old})
    return table.iloc[np.argsort(-np.nan_to_num(np.abs(new - old)), kind="stable")]


def show_tokens(scene: Scene[Followed], options: Options) -> Iterator[Item]:
    """How far each token's vector has moved, by depth, with frames where changes first show."""
    change = stream_change(scene.now.untouched, scene.now.run)
    by_length = options["whatif_measure"] == "length of the change"
    numbers = change.relative if by_length else change.cosine
    told = say("what_if", "tokens-length") if by_length else say("what_if", "tokens-cosine")
    yield _measure()
    yield Heatmap[Followed](
        key="whatif_vectors",
        alt=say("what_if", "vectors.alt"),
        caption=say("what_if", "vectors.caption", number=told),
        values=lambda _: numbers,
        rows=depth_axis(len(numbers)),
        columns=axis_of_tokens(lambda shown: shown.run.real_tokens),
        bar="moved by" if by_length else "cosine",
        hover="%{x} after %{y} blocks, " + ("moved, in lengths of the vector" if by_length else "cosine"),
        more="farther",
        number=".3g" if by_length else ".4f",
        colours=colour_scales.from_zero if by_length else _below_one,
        frames=lambda shown: _frame_changes(shown.run),
        click=say("what_if", "vectors.click"),
    )


def depth_axis(n: int) -> Axis[Any]:
    """Depths, each choosing the layer that ends there; the embeddings, depth 0, are no layer's."""
    return Axis("blocks passed", place="layer", numbers=lambda _: [None, *range(n - 1)])


def _below_one(numbers: Sequence[Array]) -> Colours:
    """Colours of cosines: a stronger one is less than 1."""
    low = min(float(np.nanmin(each, initial=1)) for each in numbers)
    return Colours({"zmin": min(low, 1 - 1e-6), "zmax": 1, "reversescale": True})


def _frame_changes(run: Run) -> list[Frame]:
    """Where a run's changes first show."""
    framed = []
    for depth, token in list_places(run.interventions):
        columns, width = ((0, run.n_real - 1), 3) if token is None else ((token, token), _AROUND_FOCUS)
        framed.append(Frame((depth, depth), columns, palette.CHANGE, width))
    return framed


def show_chosen_head(scene: Scene[Followed]) -> Iterator[Item]:
    """The chosen head before, after, and the difference; one map where they are the same."""
    followed, focus = scene.now, scene.focus
    layer, head = focus.layer, focus.head
    before, after = (each.pattern(layer)[head] for each in (followed.untouched, followed.run))
    if np.abs(after - before).max() <= FLOAT32_ROUNDING:
        yield Paragraph(say("what_if", "same", layer=layer, head=head))
        yield _map_as_it_is(followed.run, focus)
        return
    captions = {when: say("what_if", f"head-{when}", layer=layer, head=head) for when in ("before", "after")}
    captions["after"] += note_set_weights(followed.run, layer, head)
    maps = {"before": before, "after": after}
    yield Columns(
        tuple((_map_of_head(f"whatif_{when}", followed.run, focus, maps[when], captions[when]),) for when in maps)
    )
    yield _map_of_difference("whatif_difference", scene, layer, head)


def _map_as_it_is(run: Run, focus: Focus) -> Heatmap[Any]:
    weights = run.pattern(focus.layer)[focus.head]
    caption = say("what_if", "head-as-it-is", layer=focus.layer, head=focus.head)
    return _map_of_head("whatif_before", run, focus, weights, caption)


def _map_of_difference(key: str, scene: Scene[Followed], layer: int, head: int) -> Heatmap[Any]:
    """What the changes have added to each weight of a head; the focus's frame is on that of the chosen head alone."""
    before, after = (each.pattern(layer)[head] for each in (scene.now.untouched, scene.now.run))
    caption = say("what_if", "difference", layer=layer, head=head) + note_set_weights(scene.now.run, layer, head)
    is_chosen = (layer, head) == (scene.focus.layer, scene.focus.head)
    return _map_of_head(
        key,
        scene.now.run,
        replace(scene.focus, layer=layer, head=head),
        after - before,
        caption,
        colours=colour_scales.around_zero,
        magnitude=1.0,
        bar="difference",
        click=CLICK_CELL if is_chosen else "",
    )


def map_of_heads(key: str, numbers: Array, **chart: Any) -> Heatmap[Any]:
    """Numbers (L, H), a cell a head, which a click on it chooses; `chart` has the other fields of `Heatmap`."""
    click = say("what_if", "heads.click")
    return number_by_head(
        key=key, values=lambda _: numbers.astype(np.float32), more="more", **{"gap": 1, "click": click} | chart
    )


def _map_of_head(key: str, run: Run, focus: Focus, weights: Array, caption: str, **chart: Any) -> Heatmap[Any]:
    """Weights (T, T) of a head, or their difference."""
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
