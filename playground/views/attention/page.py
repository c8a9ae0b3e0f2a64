"""Who attends to whom: the answer, one head large, every head small, and a closer view that `attention_view` names."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from playground.analysis.attention import highest_entropy, mean_entropy, rollout
from playground.charts import colour_scales, palette
from playground.charts.chart import (
    Axis,
    Bars,
    Columns,
    Control,
    Group,
    HeadGrid,
    HeadLines,
    Heatmap,
    Item,
    Mask,
    Options,
    Panel,
    Paragraph,
    Widget,
    fill_panel,
)
from playground.charts.figure import Array
from playground.charts.head_map import CLICK_CELL, FOR_FINGERS, head_map, number_by_head
from playground.charts.heads import (
    SMALLEST_WEIGHT,
    Lines,
    WeightScale,
    choose_tokens,
    head_lines,
    shrink,
    stretch,
    strongest_keys,
    weight_colours,
)
from playground.charts.names import quote_place, token_names
from playground.charts.scene import Scene, note_nearest
from playground.link.lab import Lab, once
from playground.link.opening import Focus, LinkedView
from playground.runs.encoder_run import Run
from playground.views.attention.explanation import HeadsRun, is_hidden
from playground.views.attention.heads import list_linking_heads, show_known_for, show_linking_heads, show_stream
from playground.views.attention.why import answer_why
from playground.views.scenes import scene_of
from playground.words import say

AVERAGE, DIFFERENCE = "average of heads", "difference of two heads"
"""Values of `attention_show`, beside `one head`."""

Heads = Scene[HeadsRun]


def show_attention(scene: Heads, options: Options) -> Iterator[Item]:
    """The page: the answer, heads that link, the large map beside its why, its test, every head; all else is folded."""
    case, numbers = find_answer(scene.now.run, scene.focus, options)
    yield Paragraph(say("attention", f"answer-{case}", **numbers), "answer")
    linking = list_linking_heads(scene.now.run, scene.focus)
    every_head = Group("", (all_heads(scene, options),), is_late=True)
    drawing = Panel("attention_drawing", say("attention", "drawing"), _list_choices(scene, options))
    large = (pattern_map(scene, options), drawing)
    if options["attention_show"] == "one head":
        answer, tests, steps = answer_why(scene, options)
        yield Group(
            "attention_top", (linking, Columns((large, (Group("beside_map", (answer, Widget("quick_changes"))),))))
        )
        yield from tests
        yield every_head
        yield steps
    else:
        yield Group("attention_top", (linking, Columns((large, (every_head,)))))
    view = VIEWS[options["attention_view"]]
    choice = Control("attention_view", say("attention", "view"), say("attention", "view.help"))
    title = say("attention", "view.title")
    yield fill_panel(options, "attention_closer", title, lambda: (choice, *view(scene, options)), closed=(choice,))


def attention_scene(view: LinkedView) -> Heads:
    """Return the view's run and the pinned one, each with what explains its heads."""
    return scene_of(HeadsRun, view)


def find_answer(run: Run, focus: Focus, options: Options) -> tuple[str, dict[str, Any]]:
    """Return whom the query attends to most and what the key gets, of what the large map shows.

    `most`: the key, with the next one; `other`: another one; `only`: there is no other; `hidden`; `two`: two heads.
    """
    place, show = focus.within(run.config), options["attention_show"]
    row = shown_pattern(run, focus, options)[place.query]
    query, key = (quote_place(run.tokens, each) for each in (place.query, place.key))
    numbers: dict[str, Any] = {"query": query, "key": key}
    if show == DIFFERENCE:
        other = other_head(run, options)
        first, second = (run.pattern(place.layer)[head, place.query, place.key] for head in (place.head, other))
        return "two", numbers | {"head": place.head, "other": other, "first": first, "second": second}
    numbers["where"] = _name_shown(run, focus, options)
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


@once
def _shrink_patterns(lab: Lab, *, hide_special: bool) -> Array:
    """Every head's weights, shrunk; without special tokens on request."""
    visible = visible_tokens(lab.run, {"attention_hide": hide_special})
    return shrink(lab.run.patterns()[:, :, visible][..., visible])


def _list_choices(scene: Heads, options: Options) -> tuple[Item, ...]:
    """How the large map and the thumbnails are drawn."""
    choices = [
        Control("attention_show", say("attention", "show"), say("attention", "show.help")),
        Control("attention_colours", say("attention", "colours"), say("attention", "colours.help")),
        Control("attention_hide", say("attention", "hide"), say("attention", "hide.help")),
        Control("attention_stretch", say("attention", "stretch"), say("attention", "stretch.help")),
    ]
    if options["attention_show"] == DIFFERENCE:
        last = scene.now.run.config.n_heads - 1
        choices.insert(1, Control("attention_other", say("attention", "other"), high=last))
    return tuple(choices)


def other_head(run: Run, options: Options) -> int:
    """Return the head that the chosen one is compared with: the one that is asked for, or the last that the run has."""
    other: int = min(options["attention_other"], run.config.n_heads - 1)
    return other


def visible_tokens(run: Run, options: Options) -> Mask:
    """(T,): the tokens that maps show."""
    return ~run.special if options["attention_hide"] else np.full(len(run.tokens), True)


def shown_pattern(run: Run, focus: Focus, options: Options) -> Array:
    """One head's weights (T, T), the average of the layer's heads, or the difference of two; of the nearest head."""
    place = focus.within(run.config)
    heads: Array = run.pattern(place.layer)
    if options["attention_show"] == AVERAGE:
        shown: Array = heads.mean(axis=0)
    elif options["attention_show"] == DIFFERENCE:
        shown = heads[place.head] - heads[other_head(run, options)]
    else:
        shown = heads[place.head]
    return shown


def weight_scale(scene: Heads, options: Options) -> WeightScale:
    """How weights become colours, in the large map and in the thumbnails."""
    scale = WeightScale(square_root=options["attention_colours"] == "square root")
    if not options["attention_stretch"] or options["attention_show"] == DIFFERENCE:
        return scale
    visible = visible_tokens(scene.now.run, options)
    return stretch(scale, shown_pattern(scene.now.run, scene.focus, options)[np.ix_(visible, visible)])


def _name_shown(run: Run, focus: Focus, options: Options) -> str:
    place = focus.within(run.config)
    if options["attention_show"] == AVERAGE:
        return say("attention", "shown-average", layer=place.layer)
    if options["attention_show"] == DIFFERENCE:
        return say("attention", "shown-two", layer=place.layer, head=place.head, other=other_head(run, options))
    return say("attention", "shown-one", layer=place.layer, head=place.head)


def _name_nearest(pinned: Run, focus: Focus, options: Options) -> str:
    """What is shown of a pinned run, and what it lacks."""
    return f"{_name_shown(pinned, focus, options)}.{note_nearest(focus, focus.within(pinned.config))}"


def pattern_map(scene: Heads, options: Options) -> Heatmap[HeadsRun]:
    """What `attention_show` asks for, large."""
    run, focus = scene.now.run, scene.focus
    name, is_difference = _name_shown(run, focus, options), options["attention_show"] == DIFFERENCE
    heads = {"head": focus.head, "other": other_head(run, options)}
    caption = (
        say("attention", "map-two", name=name, **heads) if is_difference else say("attention", "map-one", name=name)
    )

    def nearest_layer(subject: HeadsRun) -> int:
        return focus.within(subject.run.config).layer

    return _token_map(
        options,
        key="attention_pattern",
        beside_key="head",
        weights=lambda subject: shown_pattern(subject.run, focus, options),
        allowed=lambda subject: subject.run.allowed_in(nearest_layer(subject)) & ~subject.run.padding[:, None],
        window=lambda subject: subject.run.config.window_of(nearest_layer(subject)),
        colours=colour_scales.around_zero if is_difference else weight_colours(weight_scale(scene, options)),
        bar="difference" if is_difference else "weight",
        **FOR_FINGERS,
        magnitude=1.0 if is_difference else None,
        caption=caption,
        alt=say("attention", "map.alt", name=name),
        click=CLICK_CELL,
        nearest=lambda pinned: _name_nearest(pinned.run, focus, options),
        saved_as=f"attention_{name}",
    )


def _token_map(options: Options, **chart: Any) -> Heatmap[HeadsRun]:
    """A map between the tokens that are not hidden."""
    return head_map(
        tokens=lambda subject: subject.run.tokens,
        visible=lambda subject: visible_tokens(subject.run, options),
        **chart,
    )


def all_heads(scene: Heads, options: Options) -> HeadGrid[HeadsRun]:
    """Every head as a thumbnail; a click opens it."""
    run, visible = scene.now.run, visible_tokens(scene.now.run, options)
    tokens = [run.tokens[place] for place in np.flatnonzero(visible)]
    return HeadGrid(
        key="attention_grid",
        alt=say("attention", "grid.alt", layers=run.config.n_layers, heads=run.config.n_heads),
        caption=say("attention", "grid.caption"),
        thumbnails=lambda subject: _shrink_patterns(subject.lab, hide_special=options["attention_hide"]),
        weights=lambda subject: subject.run.patterns()[:, :, visible][..., visible],
        queries=lambda _: tokens,
        keys=lambda _: tokens,
        scale=weight_scale(scene, options),
        click=say("attention", "grid.click"),
        opens="attention_pattern",
        saved_as="attention_all_heads",
        table=lambda subject: largest_weights(subject.run, visible),
        table_title=say("attention", "grid.table"),
        on_row=lambda place: {"layer": int(place[0]), "head": int(place[1])},
    )


def largest_weights(run: Run, visible: Mask) -> pd.DataFrame:
    """Return every head's largest weight between visible tokens, with its query and its key."""
    patterns = run.patterns()[:, :, visible][..., visible]
    n_layers, n_heads, n_tokens, _ = patterns.shape
    if n_tokens == 0:
        return pd.DataFrame()
    query, key = np.divmod(patterns.reshape(n_layers * n_heads, -1).argmax(axis=1), n_tokens)
    labels = np.array(token_names(run.tokens))[visible]
    columns = {"largest weight": patterns.max(axis=(2, 3)).ravel(), "query": labels[query], "key": labels[key]}
    heads = pd.MultiIndex.from_product([range(n_layers), range(n_heads)], names=["layer", "head"])
    return pd.DataFrame(columns, heads)


def show_lines(scene: Heads, options: Options) -> Iterator[Item]:
    """Every query's strongest keys as lines, the focus's query in colour."""
    run, focus = scene.now.run, scene.focus
    visible = visible_tokens(run, options) & ~run.padding
    drawn, names = choose_tokens(focus.query, shown=visible), token_names(run.tokens)

    def lines(subject: HeadsRun) -> Lines:
        return head_lines(shown_pattern(subject.run, focus, options), run.tokens, focus.query, focus.key, shown=drawn)

    def weights(subject: HeadsRun) -> pd.DataFrame:
        table = pd.DataFrame(shown_pattern(subject.run, focus, options), names, names).loc[drawn, drawn]
        return table.rename_axis("query").rename_axis("key [weight]", axis=1)

    yield HeadLines(
        key="attention_lines",
        alt=say("attention", "lines.alt", query=focus.query),
        caption=say(
            "attention",
            "lines.caption",
            query=quote_place(run.tokens, focus.query),
            most=strongest_keys(max(1, int(drawn.sum()))),
            least=SMALLEST_WEIGHT,
        ),
        lines=lines,
        weights=weights,
        nearest=lambda pinned: _name_nearest(pinned.run, focus, options),
        needs_tokens="these weights",
        saved_as=f"attention_lines_layer{focus.layer}_head{focus.head}",
        **_query_table(scene, options, visible),
    )


def _query_table(scene: Heads, options: Options, visible: Mask) -> dict[str, Any]:
    """The table of the query's weights on visible keys, the largest first; a click on a row chooses its key."""
    names = np.array(token_names(scene.now.run.tokens))
    places = {name: place for place, name in enumerate(names.tolist())}

    def table(subject: HeadsRun) -> pd.DataFrame:
        row = shown_pattern(subject.run, scene.focus, options)[scene.focus.query]
        order = [place for place in np.argsort(-row, kind="stable") if visible[place]]
        return pd.DataFrame({"weight": row[order]}, pd.Index(names[order], name="key"))

    title = say("attention", "row.table")
    return {"table": table, "table_title": title, "on_row": lambda name: {"key": places[name]}}


def show_ranking(scene: Heads, options: Options) -> Iterator[Item]:
    """What the focus's query attends to, of the visible keys."""
    run, focus = scene.now.run, scene.focus
    query, visible, names = focus.query, visible_tokens(run, options), token_names(run.tokens)
    row, allowed = shown_pattern(run, focus, options)[query], run.allowed_in(focus.layer)[query] & visible
    ranked = [int(key) for key in np.argsort(row)[::-1] if allowed[key]][:20]

    def weights(subject: HeadsRun) -> Mapping[str, Mapping[str, float]]:
        numbers = shown_pattern(subject.run, focus, options)[query]
        return {"": {names[key]: float(numbers[key]) for key in ranked}}

    yield Bars(
        key="attention_ranking",
        alt=say("attention", "ranking.alt", query=query),
        caption=say("attention", "ranking.caption", query=quote_place(run.tokens, query)),
        bars=weights,
        labels=Axis("key", place="key", numbers=lambda _: ranked),
        value={"title": "attention weight", "rangemode": "tozero"},
        colours={"": palette.ATTENTION},
        number=".4f",
        click=say("attention", "ranking.click"),
        needs_tokens="these weights",
        saved_as=f"attention_ranking_layer{focus.layer}_head{focus.head}_query{query}",
        **_query_table(scene, options, visible),
    )


def show_entropies(scene: Heads, options: Options) -> Iterator[Item]:
    """How spread out every head is, over all tokens but padding."""

    def entropies(subject: HeadsRun) -> Array:
        return mean_entropy(subject.run.patterns(), ~subject.run.padding).astype(np.float32)

    def describe(subject: HeadsRun) -> str:
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


def show_rollout(scene: Heads, options: Options) -> Iterator[Item]:
    """Which share each input token has in each position of the layer, by attention alone."""
    layer = scene.focus.layer

    def shares(subject: HeadsRun) -> Array:
        rolled = rollout(subject.run.patterns(), residual=subject.run.config.residual)
        of_layer: Array = rolled[min(layer, len(rolled) - 1)]
        return of_layer

    yield _token_map(
        options,
        key="attention_rollout",
        weights=shares,
        allowed=lambda subject: ~subject.run.padding & ~subject.run.padding[:, None],
        colours=colour_scales.from_zero,
        bar="share",
        axes=("position in the layer", "input token"),
        hover="share of %{x} in position %{y}",
        more="a larger share",
        caption=say("attention", "rollout.caption", layer=layer),
        needs_tokens="the shares",
        alt=say("attention", "rollout.alt", layer=layer),
        saved_as=f"attention_rollout_layer{layer}",
    )


VIEWS: Mapping[str, Callable[[Heads, Options], Iterator[Item]]] = {
    "lines": show_lines,
    "ranking": show_ranking,
    "entropy": show_entropies,
    "rollout": show_rollout,
    "heads that link": show_linking_heads,
    "what heads are known for": show_known_for,
    "the query's stream": show_stream,
}
"""By the value of `attention_view`."""
