"""The page Compare: where two settings part, one head, costs."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np
import pandas as pd

from playground.accounting.readable import describe_costs, sentence_costs
from playground.analysis.comparison import PointDifference, compare_points, compare_vectors, find_parting, moved_weight
from playground.analysis.sentences import sentence_vector
from playground.charts import palette
from playground.charts.chart import Axis, Bars, Columns, Group, Heatmap, Item, Options, Paragraph, fill_panel
from playground.charts.figure import Array
from playground.charts.heads import CLICK_CELL, head_map, number_by_head
from playground.charts.names import escape_markdown, quote_place, quote_token
from playground.charts.scene import Scene, note_nearest
from playground.link.opening import Focus
from playground.runs.arrays import FLOAT32_ROUNDING
from playground.runs.encoder_run import Run
from playground.text.wording import upper_first
from playground.words import say

_BLOCK_END = re.compile(r"embed\.out|layers\.\d+\.out|final")


def show_compare(scene: Scene[Run], options: Options) -> Iterator[Item]:
    """Yield where the two part, how far, and their costs."""
    if scene.pinned is None:
        yield Paragraph(say("compare", "alone"), "answer")
        return
    differences = compare_points(*scene.both)
    case, numbers = find_difference(*scene.both, differences)
    yield Paragraph(say("compare", f"answer-{case}", **numbers), "answer")
    if case == "lost":
        return
    shown = _points_by_layer(differences)
    if shown:
        yield Group("", (_draw_differences(shown, differences),), is_proof=True)
    head = partial(_compare_heads, scene)
    yield fill_panel(options, "compare_head", say("compare", "head"), head, ":material/compare:")
    costs = (sentence_costs(run.config, len(run.tokens)) for run in scene.both)
    yield Paragraph(escape_markdown(describe_costs(*costs)))


def find_difference(pinned: Run, now: Run, differences: Sequence[PointDifference]) -> tuple[str, dict[str, Any]]:
    """Return how two runs part: by `tokens`, `widths`, `apart` at a place, the `same`, or `lost`."""
    if pinned.tokens != now.tokens:
        both = enumerate(zip_longest(pinned.tokens, now.tokens))
        position, tokens = next((i, pair) for i, pair in both if pair[0] != pair[1])
        one, other = (quote_token(token or "–") for token in tokens)
        sizes = {"pinned": len(pinned.tokens), "now": len(now.tokens)}
        return "tokens", {**sizes, "position": position, "one": one, "other": other}
    widths = {"pinned": pinned.config.d_model, "now": now.config.d_model}
    if widths["pinned"] != widths["now"]:
        return "widths", widths
    found = find_parting(pinned, now, differences)
    if found is None:
        return "same", {}
    place, layer, point = found
    real, end = np.flatnonzero(~now.padding), differences[-1]
    relative = compare_vectors(pinned.arrays[point][real], now.arrays[point][real])[1]
    token = int(relative.argmax())
    far = {
        "share": float(relative[token]),
        "end": end.share if end.is_apart else 0.0,
        "cosine": float(compare_vectors(sentence_vector(pinned), sentence_vector(now))[0]),
    }
    if not np.isfinite(list(far.values())).all():
        return "lost", {}
    return "apart", {"place": place, "layer": layer, "token": quote_place(now.tokens, int(real[token])), **far}


def _points_by_layer(differences: Sequence[PointDifference]) -> list[PointDifference]:
    shown = [each for each in differences if _BLOCK_END.fullmatch(each.name)]
    if len(shown) > 1 and shown[-1].share == shown[-2].share:  # nothing stands behind the last layer
        shown.pop()
    return shown if shown and shown[0].name == "embed.out" else []


def _draw_differences(shown: Sequence[PointDifference], differences: Sequence[PointDifference]) -> Bars[Run]:
    ends = {"embed.out": "embeddings", "final": "output"}
    shares = {
        ends.get(each.name) or f"layer {each.name.split('.')[1]}": each.share
        if each.is_apart and math.isfinite(each.share)
        else 0.0
        for each in shown
    }
    return Bars[Run](
        key="compare_points",
        alt=say("compare", "points.alt"),
        caption=say("compare", "points.caption"),
        bars=lambda _: {"difference": shares},
        labels=Axis("after"),
        value={"title": "difference, % of length", "tickformat": ".3~p", "rangemode": "tozero"},
        colours={"difference": palette.ATTENTION},
        number=".3p",
        horizontal=False,
        height=300,
        table=lambda _: tabulate_differences(differences),
        compares=False,
    )


def tabulate_differences(differences: Sequence[PointDifference]) -> pd.DataFrame:
    """Return how far two runs are apart, a row a point."""
    columns = {"name": "point", "largest": "largest difference", "size": "largest number", "share": "share of length"}
    return pd.DataFrame([asdict(each) for each in differences]).rename(columns=columns)


def _compare_heads(scene: Scene[Run]) -> Iterator[Item]:
    case, numbers = find_head_change(scene)
    yield Paragraph(say("compare", f"head-{case}", **numbers))
    if not scene.same_tokens:
        yield _head_in_both(scene)
        return
    moved = moved_weight(*scene.both)
    if moved.max() <= FLOAT32_ROUNDING:
        return
    layer, head = (int(place) for place in np.unravel_index(int(moved.argmax()), moved.shape))
    chart = number_by_head(
        key="moved_weight",
        alt=say("compare", "moved.alt"),
        caption=say("compare", "moved.caption"),
        reading=lambda _: say("compare", "moved.reading", layer=layer, head=head, share=moved[layer, head]),
        values=lambda _: moved,
        bar="share",
        more="more weight moved",
        number=".1%",
        compares=False,
    )
    yield chart if case == "same" else Columns(((chart,), (_head_in_both(scene),)))


def find_head_change(scene: Scene[Run]) -> tuple[str, dict[str, Any]]:
    """Return whether the head's weights are of other `tokens`, the `same`, or `moved`."""
    if not scene.same_tokens:
        return "tokens", {}
    before, after = (_pattern(run, scene.focus) for run in scene.both)
    change = np.abs(after - before)
    if change.max() <= FLOAT32_ROUNDING:
        return "same", {}
    query, key = (int(place) for place in np.unravel_index(int(change.argmax()), change.shape))
    tokens = scene.now.tokens
    return "moved", {
        "moved": change[~scene.now.padding].sum(axis=-1).mean() / 2,
        "query": quote_place(tokens, query),
        "key": quote_place(tokens, key),
        "before": before[query, key],
        "after": after[query, key],
    }


def _pattern(run: Run, focus: Focus) -> Array:
    place = focus.within(run.config)
    pattern: Array = run.pattern(place.layer)[place.head]
    return pattern


def _head_in_both(scene: Scene[Run]) -> Heatmap[Run]:
    focus, name = scene.focus, escape_markdown(upper_first(scene.now_name))
    return head_map(
        key="head_now",
        beside_key="head",
        in_one_row=True,
        weights=lambda run: _pattern(run, focus),
        tokens=lambda run: run.tokens,
        allowed=lambda run: run.allowed_in(focus.within(run.config).layer) & ~run.padding[:, None],
        window=lambda run: run.config.window_of(focus.within(run.config).layer),
        caption=say("compare", "head.caption", name=name, layer=focus.layer, head=focus.head),
        alt=say("compare", "head.alt"),
        nearest=lambda run: note_nearest(focus, focus.within(run.config)),
        click=CLICK_CELL,
        saved_as=f"head_now_layer{focus.layer}_head{focus.head}",
    )
