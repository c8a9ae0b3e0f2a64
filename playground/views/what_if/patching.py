"""Where the difference of two sentences sits: one vector of the other at a time is put into this one.

Legend: L layers; T tokens. NaN is what is not measured yet.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from playground.charts import colour_scales, palette
from playground.charts.chart import Heatmap, Item, Options, Paragraph, token_axis
from playground.charts.figure import Array, Frame
from playground.charts.head_map import LEAST_CELL
from playground.charts.names import quote_place, shortened
from playground.charts.scene import Scene
from playground.model.changes import Change
from playground.runs.encoder_run import Run
from playground.views.what_if.followed import depth_axis
from playground.views.what_if.parts import offer_changes
from playground.words import say

LEAST_NEARER = 0.005
"""The smallest share that a whole percentage does not round to 0."""


@dataclass(frozen=True, eq=False)
class Patches:
    """How much nearer to another sentence each of its vectors brings this one."""

    run: Run
    shares: Array
    """(L + 1, T), by depth."""
    source: int
    """The other sentence of the text, from 0."""
    tokens: Sequence[str]
    """Of the other sentence, (T,)."""
    changed: Sequence[int]
    """The tokens that differ."""


def find_nearest(patches: Patches, columns: Sequence[int]) -> dict[str, Any] | None:
    """The place among some tokens that brings the sentence nearest; None if none does, or none is measured."""
    chosen = np.full(patches.shares.shape, -np.inf)
    chosen[:, list(columns)] = np.nan_to_num(patches.shares[:, list(columns)], nan=-np.inf)
    depth, token = divmod(int(chosen.argmax()), len(patches.run.real_tokens))
    if chosen[depth, token] < LEAST_NEARER:
        return None
    return {"token": quote_place(patches.run.tokens, token), "depth": depth, "share": float(chosen[depth, token])}


def show_patches(scene: Scene[Patches], options: Options) -> Iterator[Item]:
    """The map of places, the largest of them in words, and buttons that patch the chosen one."""
    patches, focus = scene.now, scene.focus
    tokens, changed, source = patches.run.real_tokens, patches.changed, patches.source
    n_depths, other = len(patches.shares), source + 1
    nearest = find_nearest(patches, range(len(tokens)))
    case = "none" if nearest is None else "nearest"
    yield Paragraph(say("what_if", f"patch-{case}", other=other, **nearest or {}), "answer")
    shared = find_nearest(patches, [i for i in range(len(tokens)) if i not in changed])
    if shared is not None:
        yield Paragraph(say("what_if", "patch-shared", **shared))
    names = [
        f"{shortened(patches.tokens[i], 9)} for {shortened(token, 9)}" if i in changed else token
        for i, token in enumerate(tokens)
    ]
    yield Heatmap[Patches](
        key="patched_places",
        alt=say("what_if", "patches.alt", other=other),
        caption=say("what_if", "patches.caption", other=other),
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
        click=say("what_if", "patches.click"),
    )
    token = quote_place(patches.run.tokens, focus.query)
    after = Change("patch", focus.layer, None, ("out", focus.query, source))
    embedding = Change("patch", None, None, ("embed", focus.query, source))
    offers = {
        say("what_if", "offer-patch", token=token, layer=focus.layer): [after],
        say("what_if", "offer-embedding", token=token): [embedding],
    }
    yield offer_changes("whatif_patch", offers)
