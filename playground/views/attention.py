"""Who attends to whom: the answer, one head large, every head small, and a closer view that `attention_view` names."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from playground.analysis.attention import (
    POSITION_ONLY,
    PROBES,
    Habits,
    check_probes,
    highest_entropy,
    mean_entropy,
    measure_habits,
    search_heads,
    weights_by_head,
)
from playground.analysis.comparison import sentence_change
from playground.charts import colour_scales, palette
from playground.charts.chart import (
    Axis,
    Bars,
    Button,
    Columns,
    Control,
    Group,
    HeadGrid,
    HeadLines,
    Heatmap,
    Item,
    Lines,
    Mask,
    Options,
    Paragraph,
    Table,
    fill_panel,
)
from playground.charts.figure import Array
from playground.charts.heads import (
    CLICK_CELL,
    FOR_FINGERS,
    SMALLEST_WEIGHT,
    choose_tokens,
    head_lines,
    head_map,
    number_by_head,
    shrink,
    strongest_keys,
)
from playground.charts.names import quote_place, token_names
from playground.charts.scene import Scene, note_nearest
from playground.errors import InputError
from playground.link.lab import Lab, compute_run, once
from playground.link.opening import Focus, LinkedView
from playground.model.changes import Change
from playground.runs.encoder_run import Run
from playground.text.wording import write_weight
from playground.views.attention_why import STEPS, answer_why, explain_cell, is_hidden
from playground.views.scenes import offer_changes, scene_of
from playground.words import say

AVERAGE = "average of heads"
"""A value of `attention_show`, beside `one head`."""

Heads = Scene[Lab]
"""Labs, whose runs are shown and whose layers explain them."""


def attention_scene(view: LinkedView) -> Heads:
    """Return the view's lab and the pinned one; raises as the run."""
    return scene_of(lambda lab, _: lab, view)


def show_attention(scene: Heads, options: Options) -> Iterator[Item]:
    """Yield the answer, heads that link, the large map beside its why, every head; all else is folded."""
    case, numbers = find_answer(scene.now.run, scene.focus, options)
    yield Paragraph(say("attention", f"answer-{case}", **numbers), "answer")
    linking = _list_linking_heads(scene.now.run, scene.focus)
    large = (_pattern_map(scene, options),)
    if options["attention_show"] == AVERAGE:
        every_head = Group("", (_all_heads(scene, options),), is_late=True)
        yield Group("attention_top", (linking, Columns((large, (every_head,)))))
    else:
        beside = Group("beside_map", (answer_why(scene, options), *_show_quick_changes(scene)))
        yield Group("attention_top", (linking, Columns((large, (beside,)))))
        yield _all_heads(scene, options)
    yield fill_panel(options, "attention_closer", say("attention", "view.title"), partial(_look_closer, scene, options))


def find_answer(run: Run, focus: Focus, options: Options) -> tuple[str, dict[str, Any]]:
    """Return whom the query attends to: the key `most`, an `other`, the `only` one; or that it is `hidden`."""
    place = focus.within(run.config)
    row = _shown_pattern(run, focus, options)[place.query]
    query, key = (quote_place(run.tokens, each) for each in (place.query, place.key))
    numbers: dict[str, Any] = {"query": query, "key": key, "where": _name_shown(run, focus, options)}
    if is_hidden(run, place):
        return "hidden", numbers
    keys = np.flatnonzero(run.allowed_in(place.layer)[place.query])
    numbers["weight"] = row[place.key]
    others = keys[keys != place.key]
    if not len(others):
        return "only", numbers
    strongest = int(others[np.argmax(row[others])])
    numbers |= {"other": quote_place(run.tokens, strongest), "second": row[strongest]}
    return "other" if row[strongest] > row[place.key] else "most", numbers


def _list_linking_heads(run: Run, focus: Focus) -> Group:
    names = {"query": quote_place(run.tokens, focus.query), "key": quote_place(run.tokens, focus.key)}
    if _is_hidden_everywhere(run, focus):
        return Group("linking_heads", (Paragraph(say("attention", "linking-hidden", **names), "caption"),))
    weights = weights_by_head(run, focus.query, focus.key)
    strongest = np.argsort(-weights, axis=None, kind="stable")[: min(3, np.isfinite(weights).sum())]
    buttons = (
        Button(
            f"linking_{rank}",
            say("attention", "linking.head", layer=layer, head=head, weight=write_weight(weights[layer, head])),
            _open_head((layer, head)),
            is_disabled=(layer, head) == (focus.layer, focus.head),
        )
        for rank, (layer, head) in enumerate(divmod(each, weights.shape[1]) for each in strongest.tolist())
    )
    return Group("linking_heads", (Paragraph(say("attention", "linking", **names), "caption"), *buttons), is_row=True)


def _is_hidden_everywhere(run: Run, focus: Focus) -> bool:
    return all(run.why_hidden(layer, focus.query, focus.key) for layer in range(run.config.n_layers))


def _show_quick_changes(scene: Heads) -> Iterator[Item]:
    lab, focus = scene.now, scene.focus
    cut = (focus.query, focus.key, 0.0)
    wanted = {"off": Change("zero", focus.layer, focus.head), "cut": Change("weight", focus.layer, focus.head, cut)}
    yield offer_changes(lab, "quick", {say("attention", f"try-{kind}"): [each] for kind, each in wanted.items()})
    if any(change in lab.fitted_changes.applied for change in wanted.values()):
        moved = sentence_change(lab.without_changes.run, lab.run)
        yield Group("quick_effect", (Paragraph(say("attention", "moved-by", moved=moved)),))


# --- the large map, and every head


def _shown_pattern(run: Run, focus: Focus, options: Options) -> Array:
    """Return one head's weights (T, T), or the average of the layer's heads."""
    place = focus.within(run.config)
    heads: Array = run.pattern(place.layer)
    shown: Array = heads.mean(axis=0) if options["attention_show"] == AVERAGE else heads[place.head]
    return shown


def _visible_tokens(run: Run, options: Options) -> Mask:
    return ~run.special if options["attention_hide"] else np.full(len(run.tokens), True)


def _name_shown(run: Run, focus: Focus, options: Options) -> str:
    place = focus.within(run.config)
    if options["attention_show"] == AVERAGE:
        return say("attention", "shown-average", layer=place.layer)
    return say("attention", "shown-one", layer=place.layer, head=place.head)


def _name_nearest(pinned: Run, focus: Focus, options: Options) -> str:
    return f"{_name_shown(pinned, focus, options)}.{note_nearest(focus, focus.within(pinned.config))}"


def _pattern_map(scene: Heads, options: Options) -> Heatmap[Lab]:
    focus, name = scene.focus, _name_shown(scene.now.run, scene.focus, options)

    def layer_of(subject: Lab) -> int:
        return focus.within(subject.run.config).layer

    return head_map(
        tokens=lambda subject: subject.run.tokens,
        visible=lambda subject: _visible_tokens(subject.run, options),
        key="attention_pattern",
        beside_key="head",
        weights=lambda subject: _shown_pattern(subject.run, focus, options),
        allowed=lambda subject: subject.run.allowed_in(layer_of(subject)) & ~subject.run.padding[:, None],
        window=lambda subject: subject.run.config.window_of(layer_of(subject)),
        colours=colour_scales.weight_colours(square_root=options["attention_colours"] == "square root"),
        caption=say("attention", "map.caption", name=name),
        alt=say("attention", "map.alt", name=name),
        click=CLICK_CELL,
        nearest=lambda pinned: _name_nearest(pinned.run, focus, options),
        saved_as=f"attention_{name}",
        controls=tuple(
            Control(f"attention_{each}", say("attention", f"draw-{each}"), say("attention", f"draw-{each}.help"))
            for each in ("show", "colours", "hide")
        ),
        **FOR_FINGERS,
    )


def _visible_patterns(run: Run, options: Options) -> Array:
    visible = _visible_tokens(run, options)
    patterns: Array = run.patterns()[:, :, visible][..., visible]
    return patterns


@once
def _shrink_patterns(lab: Lab, *, hide_special: bool) -> Array:
    return shrink(_visible_patterns(lab.run, {"attention_hide": hide_special}))


def _all_heads(scene: Heads, options: Options) -> HeadGrid[Lab]:
    run = scene.now.run
    tokens = [run.tokens[place] for place in np.flatnonzero(_visible_tokens(run, options))]
    return HeadGrid(
        key="attention_grid",
        alt=say("attention", "grid.alt", layers=run.config.n_layers, heads=run.config.n_heads),
        caption=say("attention", "grid.caption"),
        thumbnails=lambda subject: _shrink_patterns(subject, hide_special=options["attention_hide"]),
        weights=lambda subject: _visible_patterns(subject.run, options),
        queries=lambda _: tokens,
        keys=lambda _: tokens,
        square_root=options["attention_colours"] == "square root",
        click=say("attention", "grid.click"),
        opens="attention_pattern",
        saved_as="attention_all_heads",
        table=lambda subject: pd.DataFrame(_visible_patterns(subject.run, options).max(axis=(2, 3), initial=0)),
    )


# --- closer views


def _look_closer(scene: Heads, options: Options) -> Iterator[Item]:
    yield Control("attention_view", say("attention", "view"), say("attention", "view.help"))
    name = options["attention_view"]
    if name in VIEWS:
        yield from VIEWS[name](scene, options)
    elif not is_hidden(scene.now.run, scene.focus):  # the top says so
        yield from STEPS[name](explain_cell(scene.now, scene.focus, options["attention_rival"]), scene.now)


def _show_lines(scene: Heads, options: Options) -> Iterator[Item]:
    run, focus = scene.now.run, scene.focus
    drawn = choose_tokens(focus.query, shown=_visible_tokens(run, options) & ~run.padding)

    def lines(subject: Lab) -> Lines:
        return head_lines(_shown_pattern(subject.run, focus, options), run.tokens, focus.query, focus.key, shown=drawn)

    def weights(subject: Lab) -> pd.DataFrame:
        query, key = (pd.Index(token_names(run.tokens), name=name) for name in ("query", "key [weight]"))
        return pd.DataFrame(_shown_pattern(subject.run, focus, options), query, key).loc[drawn, drawn]

    numbers = {"most": strongest_keys(max(1, int(drawn.sum()))), "least": SMALLEST_WEIGHT}
    yield HeadLines(
        key="attention_lines",
        alt=say("attention", "lines.alt", query=focus.query),
        caption=say("attention", "lines.caption", query=quote_place(run.tokens, focus.query), **numbers),
        lines=lines,
        weights=weights,
        nearest=lambda pinned: _name_nearest(pinned.run, focus, options),
        **_query_table(scene, options),
    )


def _query_table(scene: Heads, options: Options) -> dict[str, Any]:
    run, names = scene.now.run, np.array(token_names(scene.now.run.tokens))
    visible = _visible_tokens(run, options) & ~run.padding

    def table(subject: Lab) -> pd.DataFrame:
        row = _shown_pattern(subject.run, scene.focus, options)[scene.focus.query]
        order = [place for place in np.argsort(-row, kind="stable") if visible[place]]
        return pd.DataFrame({"weight": row[order]}, pd.Index(names[order], name="key"))

    return {
        "table": table,
        "on_row": lambda name: {"key": names.tolist().index(name)},
        "needs_tokens": "these weights",
    }


def _show_ranking(scene: Heads, options: Options) -> Iterator[Item]:
    run, focus, names = scene.now.run, scene.focus, token_names(scene.now.run.tokens)
    allowed = run.allowed_in(focus.layer)[focus.query] & _visible_tokens(run, options)
    row = _shown_pattern(run, focus, options)[focus.query]
    ranked = [int(key) for key in np.argsort(row)[::-1] if allowed[key]][:20]

    def weights(subject: Lab) -> Mapping[str, Mapping[str, float]]:
        row = _shown_pattern(subject.run, focus, options)[focus.query]
        return {"": {names[key]: float(row[key]) for key in ranked}}

    yield Bars(
        key="attention_ranking",
        alt=say("attention", "ranking.alt", query=focus.query),
        caption=say("attention", "ranking.caption", query=quote_place(run.tokens, focus.query)),
        bars=weights,
        labels=Axis("key", place="key", numbers=lambda _: ranked),
        value={"title": "attention weight", "rangemode": "tozero"},
        colours={"": palette.ATTENTION},
        number=".4f",
        click=say("attention", "ranking.click"),
        **_query_table(scene, options),
    )


def _show_entropies(scene: Heads, options: Options) -> Iterator[Item]:

    def entropies(subject: Lab) -> Array:
        return mean_entropy(subject.run.patterns(), ~subject.run.padding).astype(np.float32)

    def describe(subject: Lab) -> str:
        run, place = subject.run, scene.focus.within(subject.run.config)
        highest = highest_entropy(run.allowed_in(place.layer), ~run.padding)
        bits = entropies(subject)[place.layer, place.head]
        return say("attention", "entropy.reading", layer=place.layer, head=place.head, bits=bits, highest=highest)

    yield number_by_head(
        key="attention_entropy",
        alt=say("attention", "entropy.alt"),
        caption=say("attention", "entropy.caption"),
        reading=describe,
        values=entropies,
        bar="bits",
        more="more spread out",
        number=".2f",
    )


def _show_linking_heads(scene: Heads, options: Options) -> Iterator[Item]:
    focus = scene.focus
    if _is_hidden_everywhere(scene.now.run, focus):
        return  # the row of heads on top says so
    yield Paragraph(say("attention", "link.caption"), "caption")
    yield Table[Lab](
        key="heads_that_link",
        frame=lambda subject: search_heads(subject.run, focus.query, focus.key),
        formats={"weight": "%.3f", "rank": "%d", "z": "%+.1f"},
        fills={"weight": 1},
        compares=scene.same_tokens,
        on_row=_open_head,
    )


def _open_head(place: tuple[int, int]) -> dict[str, Any]:
    return {"layer": int(place[0]), "head": int(place[1]), "attention_show": "one head"}


def _show_known_for(scene: Heads, options: Options) -> Iterator[Item]:
    layer, head = scene.focus.layer, scene.focus.head
    try:
        habits = habits_in_probes(scene.now.without_changes)
    except InputError as error:
        yield Paragraph(str(error), "info")
        return
    known = habits.known_for(layer, head)
    if known is None:
        yield Paragraph(say("attention", "known-none", layer=layer, head=head))
    else:
        share = habits.scores[known][layer, head]
        yield Paragraph(say("attention", "known-for", layer=layer, head=head, rule=known, share=share))
    scores = {name: values.ravel() for name, values in habits.scores.items() if not np.isnan(values).all()}
    heads = pd.MultiIndex.from_tuples(np.ndindex(*habits.scores[POSITION_ONLY].shape), names=["layer", "head"])
    names = [habits.known_for(*place) or "–" for place in heads]
    yield Table[Lab](
        key="known_for",
        frame=lambda _: pd.DataFrame({"known for": names, **scores}, heads),
        formats=dict.fromkeys(habits.scores, "%.2f"),
        widths={"known for": 120},
        compares=False,
        on_row=_open_head,
    )
    yield Paragraph(say("attention", "habits", n=len(PROBES)), "caption")


@once
def habits_in_probes(lab: Lab) -> Habits:
    """Return what heads do in fixed sentences; raises InputError if the tokenizer lacks their words."""
    if lab["tokenizer"] == "word" and lab.config.vocab_size:
        raise InputError("The tokenizer word knows the words of your own text alone, and not the fixed sentences.")
    probes = lab.at(lab.state.with_sentences(PROBES))
    check_probes(probes.batch.unknown)
    return measure_habits([compute_run(probes.source, probes.key_of(i)) for i in range(len(PROBES))])


VIEWS: Mapping[str, Callable[[Heads, Options], Iterator[Item]]] = {
    "lines": _show_lines,
    "ranking": _show_ranking,
    "entropy": _show_entropies,
    "heads that link": _show_linking_heads,
    "what heads are known for": _show_known_for,
}
"""By the value of `attention_view`; the others are STEPS."""
