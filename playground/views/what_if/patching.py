"""Where the difference of two sentences sits: one vector of the other at a time is put into this one.

Legend: L layers; T tokens. NaN is what is not measured yet.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from playground.charts import colour_scales, palette
from playground.charts.chart import Heatmap, Item, Options, Paragraph, token_axis
from playground.charts.figure import Array, Frame
from playground.charts.head_map import LEAST_CELL
from playground.charts.markdown import quote_place, quote_token
from playground.charts.names import shortened
from playground.charts.scene import Scene
from playground.model.changes import Change
from playground.runs.encoder_run import Run
from playground.views.what_if.followed import depth_axis
from playground.views.what_if.parts import offer_changes


@dataclass(frozen=True, eq=False)
class Patches:
    """How much nearer to another sentence each of its vectors brings this one."""

    run: Run
    shares: Array
    """(L + 1, T), by depth."""
    sentence: int
    """Of the text, from 0."""
    source: int
    """The other sentence."""
    tokens: Sequence[str]
    """Of the other sentence, (T,)."""
    changed: Sequence[int]
    """The tokens that differ."""


_NEARER = r"$1 - \lVert u' - v \rVert / \lVert u - v \rVert$"
"""What a number of the map is, as `sweeps.score_nearness` computes it."""

LEAST_NEARER = 0.005
"""The smallest share that a whole percentage does not round to 0."""


def show_patches(scene: Scene[Patches], options: Options) -> Iterator[Item]:
    """The map of places, the largest of them in words, and buttons that patch the chosen one."""
    patches, focus = scene.now, scene.focus
    n_depths, changed, source = len(patches.shares), patches.changed, patches.source
    tokens = patches.run.real_tokens
    names = [
        f"{shortened(patches.tokens[i], 9)} for {shortened(token, 9)}" if i in changed else token
        for i, token in enumerate(tokens)
    ]
    answer, *more = _describe_places(patches)
    yield Paragraph(answer, "answer")
    if more:
        yield Paragraph(" ".join(more))
    yield Heatmap[Patches](
        key="patched_places",
        alt=f"How much nearer to sentence {source + 1} each patched vector brings the sentence, by depth and token",
        caption=f"**One vector of sentence {source + 1} at a time is put into sentence {patches.sentence + 1}**, at "
        "one token and one depth: 0 is the embeddings, then the number of blocks passed. The number is how much "
        f"nearer that brings it: {_NEARER}. Here $u$ is its vector, the mean over its tokens, $u'$ the same with the "
        f"patch, and $v$ that of sentence {source + 1}. 100%: it is there; 0: no nearer than before; below 0: "
        "farther away, be it past $v$ or off to a side. Frames mark the tokens that differ: one stands *for* the "
        "other. Click a cell to choose its token, as the query, and the layer that it leaves.",
        values=lambda shown: shown.shares.astype(np.float32),
        rows=depth_axis(n_depths),
        columns=token_axis(lambda _: names),
        bar="nearer by",
        hover="%{x}, depth %{y}, nearer by",
        more="nearer",
        number=".1%",
        colours=lambda numbers: replace(colour_scales.around_zero(numbers), ticks={"tickformat": ".0%"}),
        magnitude=1.0,
        gap=1,
        frames=lambda _: [Frame((0, n_depths - 1), (column, column), palette.EMBEDDINGS) for column in changed],
        height=int(np.clip(215 + 30 * n_depths, 320, 660)),
        flat_bar=True,
        least_cell=LEAST_CELL,
        click="What leaves the chosen layer, in its row, at the chosen query, in its column. Arrow keys move them.",
    )
    focused = quote_place(patches.run.tokens, focus.query)
    offers = {
        f"Patch {focused} after layer {focus.layer}": [
            Change("patch", focus.layer, None, ("out", focus.query, source))
        ],
        f"Patch the embedding of {focused}": [Change("patch", None, None, ("embed", focus.query, source))],
    }
    yield offer_changes("whatif_patch", offers)


def show_what_a_patch_shows(n_tokens: int) -> Iterator[Item]:
    """What the view shows once the text has a second sentence of so many tokens, and how to come by one."""
    yield Paragraph(
        "Take two sentences that differ in one word. Which token's vector, after which block, holds the difference?",
        "answer",
    )
    yield Paragraph(
        "This view puts one vector of the other sentence into this one, place by place. It shows how much nearer each "
        f"brings the two sentences. Your text needs a second sentence with as many tokens as this one, {n_tokens}, and "
        "at least one of them different. A button below adds one."
    )


def _describe_places(patches: Patches) -> Iterator[str]:
    """The place that brings the sentence nearest, then the tokens that differ and the largest places by depth."""
    tokens, shares, changed = patches.run.tokens, patches.shares, patches.changed
    names = [
        f"{quote_token(patches.tokens[i])} in place of {quote_place(tokens, i)}"
        if i in changed
        else quote_place(tokens, i)
        for i in range(shares.shape[1])
    ]
    if not np.isfinite(shares).any():
        yield "The two sentences' vectors are equal, or not finite: there is no distance to shorten."
    else:
        so_far = " Not all places are measured yet." if np.isnan(shares).any() else ""
        depth = int(np.nanargmax(shares)) // shares.shape[1]
        nearest = _nearest(shares[depth], names, f" at depth {depth}")
        yield f"One vector of sentence {patches.source + 1} at a time is put into this one: {nearest}.{so_far}"
    pairs = [names[i] for i in changed[:4]]
    more = f" and {len(changed) - 4} more" if len(changed) > 4 else ""
    yield f"**{len(changed)} {'token differs' if len(changed) == 1 else 'tokens differ'}:** {', '.join(pairs)}{more}."
    if not np.isfinite(shares).any():
        return
    if np.isfinite(shares[0]).any():
        yield f"At the embeddings, {_nearest(shares[0], names)}."
    for depth in dict.fromkeys((len(shares) // 2, len(shares) - 1)):
        if np.isfinite(shares[depth]).any():
            yield f"After {depth} {'block' if depth == 1 else 'blocks'}, {_nearest(shares[depth], names)}."
    same = np.array([i not in changed for i in range(shares.shape[1])])
    elsewhere = np.where(same, shares, np.nan)
    if np.isfinite(elsewhere).any():
        depth = int(np.nanargmax(elsewhere)) // shares.shape[1]
        nearest = _nearest(elsewhere[depth], names, f" at depth {depth}")
        yield f"Of the tokens that both sentences share, {nearest}."


def _nearest(row: Array, names: Sequence[str], where: str = "") -> str:
    """The place of a row (T,) that brings the sentence nearest, and by how much; that none does where none does."""
    place = int(np.nanargmax(row))
    if row[place] < LEAST_NEARER:
        return "none brings it any nearer"
    return f"{names[place]}{where} brings it nearest, by **{row[place]:.0%}**"
