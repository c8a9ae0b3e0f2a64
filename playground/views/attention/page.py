"""Who attends to whom: the answer, one head large, every head small, and a closer view that `attention_view` names."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from playground.analysis.attention import highest_entropy, mean_entropy, merge_moves_results, rollout
from playground.analysis.comparison import describe_head_change
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
    Later,
    Mask,
    Options,
    Panel,
    Paragraph,
    Widget,
    fill_panel,
)
from playground.charts.figure import Array
from playground.charts.head_lines import SMALLEST_WEIGHT, Lines, choose_tokens, head_lines, strongest_keys
from playground.charts.head_map import CLICK_CELL, FOR_FINGERS, head_map, number_by_head, stretch, weight_colours
from playground.charts.markdown import escape_markdown, quote_token
from playground.charts.names import token_names, token_table
from playground.charts.scene import Scene, note_nearest
from playground.charts.weights import WeightScale, ranked_keys, shrink
from playground.link.lab import Lab, once
from playground.link.opening import Focus, LinkedView
from playground.runs.encoder_run import Run
from playground.text.wording import count_noun, upper_first
from playground.views.attention.answer import other_head, say_who_attends
from playground.views.attention.explanation import HeadsRun
from playground.views.attention.heads import list_linking_heads, show_known_for, show_linking_heads, show_stream
from playground.views.attention.notes import note_special_tokens
from playground.views.attention.why import answer_why
from playground.views.change_names import has_odd_rows, note_changes, note_set_weights
from playground.views.scenes import scene_of

HELP = {
    "show": "A head is one of the attention computations that run side by side in a layer.",
    "hide": "Leaves out padding and the tokens that the tokenizer added, such as [CLS] and [SEP], of maps, lines, "
    "ranking and rollout. What is computed stays as it is: Why, the entropies, heads that link and what heads are "
    "known for count special tokens, hidden or not.",
    "colours": "Of the thumbnails and of the large map. square root: faint attention shows too. linear: a colour half "
    "as strong is half the weight. A difference is always linear.",
    "stretch": "Ends the colours of thumbnails and large map at the large map's largest weight instead of at 1. A "
    "difference always ends at its largest.",
    "view": "lines: every query's strongest keys. ranking: one query's keys, the strongest first. "
    "entropy: how spread out each head is. rollout: attention traced back to the input. heads that link: all heads by "
    "the weight from the query to its key. what heads are known for: previous token, [SEP] and other habits. "
    "the query's stream: what writes to its vector.",
}

Heads = Scene[HeadsRun]


def show_attention(scene: Heads, options: Options) -> Iterator[Item]:
    """The page: the answer, heads that link, the large map beside its why, its test, every head; all else is folded."""
    yield Paragraph(say_who_attends(scene.now, scene.focus, options), "answer")
    linking = list_linking_heads(scene.now.run, scene.focus)
    every_head = Later((all_heads(scene, options),))
    large = (pattern_map(scene, options), Panel("attention_drawing", "How it is drawn", _list_choices(scene, options)))
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
    view, choice = VIEWS[options["attention_view"]], Control("attention_view", "Look closer", HELP["view"])
    title = "Look closer: lines, ranking, entropy, rollout, heads that link, habits, the query's stream"
    yield fill_panel(options, "attention_closer", title, lambda: (choice, *view(scene, options)), closed=(choice,))


def attention_scene(view: LinkedView) -> Heads:
    """The view's run and the pinned one, each with what explains its heads."""
    return scene_of(HeadsRun, view)


@once
def _shrink_patterns(lab: Lab, *, hide_special: bool) -> Array:
    """Every head's weights, shrunk; without special tokens on request."""
    visible = visible_tokens(lab.run, {"attention_hide": hide_special})
    return shrink(lab.run.patterns()[:, :, visible][..., visible])


def _list_choices(scene: Heads, options: Options) -> tuple[Item, ...]:
    """How the large map and the thumbnails are drawn."""
    choices = [
        Control("attention_show", "Show", HELP["show"]),
        Control("attention_colours", "Colours", HELP["colours"]),
        Control("attention_hide", "hide special tokens", HELP["hide"]),
        Control("attention_stretch", "stretch colours", HELP["stretch"]),
    ]
    if options["attention_show"] == "difference of two heads":
        choices.insert(1, Control("attention_other", "minus head", high=scene.now.run.config.n_heads - 1))
    return tuple(choices)


def visible_tokens(run: Run, options: Options) -> Mask:
    """(T,): the tokens that maps show."""
    return ~run.special if options["attention_hide"] else np.full(len(run.tokens), True)


def shown_pattern(run: Run, focus: Focus, options: Options) -> Array:
    """One head's weights (T, T), the average of the layer's heads, or the difference of two; of the nearest head."""
    place = focus.within(run.config)
    heads: Array = run.pattern(place.layer)
    if options["attention_show"] == "average of heads":
        shown: Array = heads.mean(axis=0)
    elif options["attention_show"] == "difference of two heads":
        shown = heads[place.head] - heads[other_head(run, options)]
    else:
        shown = heads[place.head]
    return shown


def weight_scale(scene: Heads, options: Options) -> WeightScale:
    """How weights become colours, in the large map and in the thumbnails."""
    scale = WeightScale(square_root=options["attention_colours"] == "square root")
    if not options["attention_stretch"] or options["attention_show"] == "difference of two heads":
        return scale
    visible = visible_tokens(scene.now.run, options)
    return stretch(scale, shown_pattern(scene.now.run, scene.focus, options)[np.ix_(visible, visible)])


def _name_shown(run: Run, focus: Focus, options: Options) -> str:
    place = focus.within(run.config)
    if options["attention_show"] == "average of heads":
        return f"layer {place.layer}, average of heads"
    minus = f" minus head {other_head(run, options)}" if options["attention_show"] == "difference of two heads" else ""
    return f"layer {place.layer}, head {place.head}{minus}"


def _name_nearest(run: Run, focus: Focus, options: Options) -> str:
    """What is shown of a pinned run, and what it lacks."""
    return f"{upper_first(_name_shown(run, focus, options))}.{note_nearest(focus, focus.within(run.config))}"


def pattern_map(scene: Heads, options: Options) -> Heatmap[HeadsRun]:
    """What `attention_show` asks for, large."""
    run, focus = scene.now.run, scene.focus
    name, is_difference = _name_shown(run, focus, options), options["attention_show"] == "difference of two heads"
    is_average = options["attention_show"] == "average of heads"
    sums = _describe_sums(run, options)
    if has_odd_rows(run, focus.layer):
        sums = "add up to 1, but where one was set after the softmax"
    about = (
        f"A row is a query, the token that asks; a column is a key, the token asked. A row's weights {sums}. A "
        f"stronger colour is more weight.{note_set_weights(run, focus.layer, None if is_average else focus.head)}"
    )
    if is_difference:
        about = f"Violet: head {focus.head} gives more weight. Orange: head {other_head(run, options)} gives more."

    def nearest_layer(subject: HeadsRun) -> int:
        return focus.within(subject.run.config).layer

    def describe_change(now: HeadsRun, pinned: HeadsRun) -> str:
        patterns = ((each.run, shown_pattern(each.run, focus, options)) for each in (pinned, now))
        return "" if is_difference else escape_markdown(describe_head_change(*patterns))

    def name_nearest(pinned: HeadsRun) -> str:
        told = "" if scene.same_tokens else f" {describe_change(scene.now, pinned)}"
        return f"{_name_nearest(pinned.run, focus, options)}{told}"

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
        caption=f"**{name}.** {about} Click a cell to choose its query and its key.",
        alt=f"Attention of {name}: queries in rows, keys in columns.",
        click=CLICK_CELL,
        nearest=name_nearest,
        change=describe_change,
        saved_as=f"attention_{name}",
    )


def _token_map(options: Options, **chart: Any) -> Heatmap[HeadsRun]:
    """A map between the tokens that are not hidden."""
    return head_map(
        tokens=lambda subject: subject.run.tokens,
        visible=lambda subject: visible_tokens(subject.run, options),
        **chart,
    )


def _describe_sums(run: Run, options: Options) -> str:
    return "add up to 1" if visible_tokens(run, options).all() else "add up to 1 or less, as tokens are hidden"


def all_heads(scene: Heads, options: Options) -> HeadGrid[HeadsRun]:
    """Every head as a thumbnail; a click opens it."""
    run, scale = scene.now.run, weight_scale(scene, options)
    how = "the square root of the weight, so that faint attention shows too" if scale.square_root else "the weight"
    end = f" All weights from {scale.top:.2g} on have the strongest." if scale.top < 1 else ""
    hidden = " Special tokens are left out." if options["attention_hide"] else ""
    visible = visible_tokens(run, options)
    tokens = [run.tokens[place] for place in np.flatnonzero(visible)]
    n_layers, n_heads = run.config.n_layers, run.config.n_heads
    return HeadGrid(
        key="attention_grid",
        alt=f"Attention of {count_noun(n_layers, 'layer')} and {count_noun(n_heads, 'head')} as thumbnails.",
        caption="**Every head, small.** A row is a layer, a column is a head. A stronger colour means more weight; it "
        f"follows {how}.{end}{hidden}{note_changes(run)} Click a head to open it.",
        thumbnails=lambda subject: _shrink_patterns(subject.lab, hide_special=options["attention_hide"]),
        weights=lambda subject: subject.run.patterns()[:, :, visible][..., visible],
        queries=lambda _: tokens,
        keys=lambda _: tokens,
        scale=scale,
        click="The open head. Arrow keys open its neighbours.",
        opens="attention_pattern",
        saved_as="attention_all_heads",
        table=lambda subject: largest_weights(subject.run, visible),
        table_title="The numbers: click a row to open its head",
        on_row=lambda place: {"layer": int(place[0]), "head": int(place[1])},
    )


def largest_weights(run: Run, visible: Mask) -> pd.DataFrame:
    """Every head's largest weight between visible tokens, with its query and its key."""
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
    query, visible = focus.query, visible_tokens(run, options) & ~run.padding
    drawn = choose_tokens(query, shown=visible)
    n_drawn, n_visible = int(drawn.sum()), int(visible.sum())
    colour = f"In colour: {_name_query(run, focus)}." if visible[query] else f"{_name_query(run, focus)} is hidden."
    left_out = f" Of {n_visible} tokens, the {n_drawn} nearest to the query are drawn." if n_drawn < n_visible else ""

    def lines(subject: HeadsRun) -> Lines:
        return head_lines(shown_pattern(subject.run, focus, options), run.tokens, query, focus.key, shown=drawn)

    def weights(subject: HeadsRun) -> pd.DataFrame:
        table = token_table(shown_pattern(subject.run, focus, options), run.tokens).loc[drawn, drawn]
        return table.rename_axis("query").rename_axis("key [weight]", axis=1)

    yield HeadLines(
        key="attention_lines",
        alt=f"Lines from each query to the keys it attends to most, query {query} in colour.",
        caption=f"**{_name_shown(run, focus, options)}.** Lines join each query (left) to its strongest keys (right), "
        f"at most {strongest_keys(max(1, n_drawn))}. A thicker line means more weight; weights under "
        f"{SMALLEST_WEIGHT} are left out. {colour}{left_out} Click a line, or a token on either side, to choose it.",
        lines=lines,
        weights=weights,
        nearest=lambda pinned: _name_nearest(pinned.run, focus, options),
        needs_tokens="these weights",
        saved_as=f"attention_lines_layer{focus.layer}_head{focus.head}",
        **_query_table(scene, options, visible),
    )


def _name_query(run: Run, focus: Focus) -> str:
    """The query's token and position in words."""
    return f"{quote_token(run.tokens[focus.query])} at position {focus.query}"


def _query_table(scene: Heads, options: Options, visible: Mask) -> dict[str, Any]:
    """The table of the query's weights on visible keys, the largest first; a click on a row chooses its key."""
    names = np.array(token_names(scene.now.run.tokens))
    places = {name: place for place, name in enumerate(names.tolist())}

    def table(subject: HeadsRun) -> pd.DataFrame:
        row = shown_pattern(subject.run, scene.focus, options)[scene.focus.query]
        order = [place for place in np.argsort(-row, kind="stable") if visible[place]]
        return pd.DataFrame({"weight": row[order]}, pd.Index(names[order], name="key"))

    return {
        "table": table,
        "table_title": "The numbers: click a row to choose its key",
        "on_row": lambda name: {"key": places[name]},
    }


def show_ranking(scene: Heads, options: Options) -> Iterator[Item]:
    """What the focus's query attends to, of the visible keys."""
    run, focus = scene.now.run, scene.focus
    query, visible, names = focus.query, visible_tokens(run, options), token_names(run.tokens)
    row, allowed = shown_pattern(run, focus, options)[query], run.allowed_in(focus.layer)[query] & visible
    before, first = None, "the strongest key first"
    if scene.pinned is not None and scene.same_tokens:
        before = shown_pattern(scene.pinned.run, focus, options)[query]
        layer = focus.within(scene.pinned.run.config).layer
        allowed = allowed | (scene.pinned.run.allowed_in(layer)[query] & visible)
        first = f"{first}, by the larger of its two weights"
    ranked = ranked_keys(row, allowed, before)
    hidden = "" if visible.all() else f" Hidden keys are left out; theirs add up to {row[~visible].sum():.2f}."

    def weights(subject: HeadsRun) -> Mapping[str, Mapping[str, float]]:
        numbers = shown_pattern(subject.run, focus, options)[query]
        return {"": {names[key]: float(numbers[key]) for key in ranked}}

    yield Bars(
        key="attention_ranking",
        alt=f"Bars: attention weights of query {query}.",
        caption=f"**{_name_shown(run, focus, options)}.** What {_name_query(run, focus)} attends to, {first}.{hidden} "
        "Click a bar to choose its key.",
        bars=weights,
        labels=Axis("key", place="key", numbers=lambda _: ranked),
        value={"title": "attention weight", "rangemode": "tozero"},
        colours={"": palette.ATTENTION},
        number=".4f",
        click="The chosen key. Arrow keys choose its neighbours.",
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
        odd = " Rows with a weight set after the softmax do not add up to 1, and count as they are." * has_odd_rows(run)
        return (
            f"It is {highest:.2f} if every query spreads evenly over all keys that "
            f"it may attend to. Layer {place.layer}, head {place.head}: "
            f"{entropies(subject)[place.layer, place.head]:.2f} bits. {note_special_tokens(run)}{odd}"
        )

    def compare_means(now: HeadsRun, pinned: HeadsRun) -> str:
        bits = [entropies(each) for each in (pinned, now)]
        n_layers, n_heads = (min(sizes) for sizes in zip(*(each.shape for each in bits), strict=True))
        means = [float(each[:n_layers, :n_heads].mean()) for each in bits]
        other = "" if scene.same_tokens else " They read other tokens, and so may spread over more keys or fewer."
        return f"The mean over the heads that both have goes {means[0]:.2f} → {means[1]:.2f} bits.{other}"

    yield number_by_head(
        key="attention_entropy",
        alt="Mean entropy of every head, in bits.",
        caption=r"How spread out is each head? Its entropy is $-\sum p \log_2 p$ over keys, averaged over queries. It "
        "is 0 bits if every query attends to one token.",
        reading=describe,
        change=compare_means,
        values=entropies,
        bar="bits",
        more="more spread out",
        number=".2f",
    )


def show_rollout(scene: Heads, options: Options) -> Iterator[Item]:
    """Which share each input token has in each position of the layer, by attention alone."""
    run, layer = scene.now.run, scene.focus.layer

    def shares(subject: HeadsRun) -> Array:
        rolled = rollout(subject.run.patterns(), residual=subject.run.config.residual)
        of_layer: Array = rolled[min(layer, len(rolled) - 1)]
        return of_layer

    def name_layer(subject: HeadsRun) -> str:
        last = subject.run.config.n_layers - 1
        return f"Layer {min(layer, last)}.{'' if layer <= last else f' The nearest: it has no layer {layer}.'}"

    residual = "keeps half of each token in place, as the residual connection does, " if run.config.residual else ""
    sums = _describe_sums(run, options)
    if has_odd_rows(run):
        sums = "need not add up to 1, as a weight was set after the softmax"
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
        caption=f"Where does layer {layer} get its information from? Attention rollout (Abnar & Zuidema 2020) "
        f"estimates it: it averages the heads, {residual}and multiplies the layers. A row is one position. Its cells "
        f"are the shares that the input tokens have in it; they {sums}. Rollout knows attention weights alone: it "
        "ignores values and the feed-forward.",
        reading=lambda subject: _warn_of_rollout(subject.run),
        nearest=name_layer,
        needs_tokens="the shares",
        alt=f"Attention rollout from the input to layer {layer}.",
        saved_as=f"attention_rollout_layer{layer}",
    )


def _warn_of_rollout(run: Run) -> str:
    """A sentence where rollout's shares are wrong, as attention's results do not stay at the query's position."""
    if not merge_moves_results(run.config, len(run.tokens)):
        return ""
    return (
        "**Rollout is wrong here**: `head_merge = reshape` puts what a query gathers at other positions, and rollout "
        "does not know. A token with a share of 0 may change what stands there."
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
