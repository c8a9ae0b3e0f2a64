"""What followed from changes of the computation: the sentence, its tokens, its answers, and attention.

Legend: L layers; H heads; T tokens; N sentences.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, cast

import numpy as np
import pandas as pd

from playground.analysis.changes import list_places, sentence_change, stream_change
from playground.analysis.comparison import moved_weight
from playground.analysis.sentences import Pooling
from playground.charts import colour_scales, palette
from playground.charts.chart import (
    Axis,
    Columns,
    Control,
    Group,
    Heatmap,
    Item,
    Options,
    Paragraph,
    Table,
    fill_panel,
    token_axis,
)
from playground.charts.colour_scales import Colours
from playground.charts.figure import Array, Frame
from playground.charts.head_map import CLICK_CELL, FOR_FINGERS, head_map, number_by_head
from playground.charts.markdown import quote_token
from playground.charts.scene import Scene
from playground.link.opening import Focus
from playground.runs.arrays import FLOAT32_ROUNDING
from playground.runs.encoder_run import Run
from playground.text.wording import write_number, write_share
from playground.views.change_names import count_changes, name_your_changes
from playground.views.what_if.verdict import HeadEffects, judge_changes

POOLING_HELP = (
    "How the tokens' vectors become one for the sentence. mean: over its tokens. first token: its vector alone. mean "
    "with padding: a mistake that is often made, shown here on purpose."
)

POOLING = Control("whatif_pooling", "One vector of the tokens' vectors", POOLING_HELP)
MEASURE = Control("whatif_measure", "Measured by")
"""What stands in panels; closed, they keep what was chosen."""

_AROUND_FOCUS = 9
"""Pixels of a frame around a single cell: it is seen around the focus's frame, and within it, where both are one."""


@dataclass(frozen=True, eq=False)
class Answers:
    """What a network that was trained here answers to this sentence, before and after the changes. A positions."""

    labels: Sequence[str]
    """By class."""
    tokens: Sequence[str]
    """What the tokens whose answers are asked for are called, (A,)."""
    right: Sequence[int]
    """Their right classes."""
    before: Array
    """The classes' probabilities, (A, classes)."""
    after: Array


@dataclass(frozen=True, eq=False)
class Followed:
    """A sentence's run with changes and without them, and what else follows."""

    run: Run
    untouched: Run
    sentence: int
    """Of the text, from 0."""
    n_sentences: int
    similarities: Callable[[Pooling], tuple[Array, Array]]
    """The cosines between the vectors of the text's sentences before and after, (N, N) each."""
    pooled_in_training: bool
    """Whether the weights are those that were trained with the mean of a sentence's tokens."""
    causal: bool
    is_random: bool = False
    """Whether the weights are, so that nothing was learned."""
    heads: HeadEffects | None = None
    """What the change is compared with; None where it is not measured."""
    notes: Callable[[int, int], str] = lambda layer, head: ""
    """What is odd about the weights of a layer's head, after a space."""

    @cached_property
    def moved_weight(self) -> Array:
        """The share of a token's attention that has moved to other tokens, by head: (L, H)."""
        return moved_weight(self.untouched, self.run)

    @property
    def your_changes(self) -> str:
        """What a sentence calls them."""
        return name_your_changes(count_changes(self.run))


def show_followed(scene: Scene[Followed], options: Options) -> Iterator[Item]:
    """What followed from a link's changes; what a page measures while it is looked at is left to the page."""
    if options["whatif_view"] != "what followed":
        yield Paragraph(
            f"The view “{options['whatif_view']}” measures while you look at it: open this link in the app."
        )
    elif not scene.now.run.interventions:
        yield Paragraph("Nothing is changed here, so nothing has followed.", "answer")
        yield from show_head(scene.now.run, scene.focus)
    else:
        yield answer_what_followed(scene)
        yield from show_most_changed(scene, options)
        yield from show_details(scene, options)


def answer_what_followed(scene: Scene[Followed]) -> Paragraph:
    """How far the sentence has moved, and whether that is much."""
    followed = scene.now
    verdict = judge_changes(followed.untouched, followed.run, followed.heads, is_random=followed.is_random)
    return Paragraph(verdict, "answer")


def show_most_changed(scene: Scene[Followed], options: Options) -> Iterator[Item]:
    """The head whose attention has changed most, among all heads; where none has changed, how far each token moved."""
    followed = scene.now
    shares = followed.moved_weight
    place = _find_most_changed(shares)
    if place is None:
        yield Paragraph(
            f"**No head attends otherwise:** all weights of attention are the same with and without "
            f"{followed.your_changes}."
            if np.isfinite(shares).all()
            else "**Which head changed most cannot be told:** numbers have left the range of 32-bit floats."
        )
        yield Paragraph("How far has each token moved?", "header")
        yield from show_tokens(scene, options)
        return
    layer, head = place
    yield Paragraph("Which head changed most?", "header")
    yield Paragraph(
        f"**Layer {layer}, head {head}:** on average, {write_share(float(shares[place]))} of a token's attention has "
        "moved to other tokens."
    )
    heads = map_of_heads(
        "whatif_heads",
        shares,
        caption="**Every head.** A cell is the share of a token's attention that has moved to other tokens, a mean "
        "over the tokens: 0 is the same attention, 1 looks at other tokens altogether. Layers before the first change "
        "cannot move. The green frame is the head that changed most: the other map shows it. The red frame is the "
        "chosen head, which a panel below shows; click a cell to choose another.",
        alt="How much each head's attention has changed.",
        frames=lambda _: [Frame((layer, layer), (head, head), palette.CHANGE, _AROUND_FOCUS)],
        bar="share",
        number=".1%",
        click="The chosen layer, in its row, and head, in its column. Arrow keys choose their neighbours.",
    )
    most = _map_of_difference("whatif_most", scene, layer, head, " Of all heads, this one changed most.")
    yield Columns(((heads,), (most,)))


def _find_most_changed(shares: Array) -> tuple[int, int] | None:
    """The head whose share of moved weight, (L, H), is largest; None where none moved any, or not all are finite."""
    if not np.isfinite(shares).all() or shares.max() <= FLOAT32_ROUNDING:
        return None
    layer, head = np.unravel_index(shares.argmax(), shares.shape)
    return int(layer), int(head)


def show_details(scene: Scene[Followed], options: Options) -> Iterator[Item]:
    """Panels: every token, the sentence's vector, and the chosen head with and without the changes."""
    most = _find_most_changed(scene.now.moved_weight)
    if most is not None:
        yield fill_panel(
            options,
            "whatif_tokens",
            "How far has each token moved?",
            lambda: show_tokens(scene, options),
            ":material/grid_on:",
            closed=(MEASURE,),
        )
    yield fill_panel(
        options,
        "whatif_sentence",
        "The sentence: its cosine, and beside other sentences",
        lambda: show_sentences(scene, options),
        ":material/notes:",
        closed=(POOLING,),
    )
    title = "The chosen head, before and after"
    yield fill_panel(options, "whatif_chosen", title, lambda: show_chosen_head(scene, most), ":material/compare:")


def show_sentences(scene: Scene[Followed], options: Options) -> Iterator[Item]:
    """How far the sentence's vector has moved, and every pair of sentences before and after."""
    followed, pooling = scene.now, cast(Pooling, options["whatif_pooling"])
    yield POOLING
    change = sentence_change(followed.untouched, followed.run, pooling)
    cosine, relative = float(change.cosine), float(change.relative)
    if np.isfinite(cosine) and np.isfinite(relative):
        yield Paragraph(
            f"The sentence's vector has moved by **{write_number(relative)} of its length**. Its cosine with the "
            "untouched one "
            f"is **{cosine:.4f}**; 1 is the same direction."
        )
    else:
        yield Paragraph("The sentence's vector is 0, or has left the range of 32-bit floats: it has no direction.")
    yield Paragraph(_describe_pooling(pooling, followed), "caption")
    if followed.n_sentences == 1:
        alone = "With a second sentence in your text, a table here says how similar the two are before and after."
        yield Paragraph(alone, "caption")
        return
    four = "%.4f"
    table = Table[Followed](
        key="whatif_similarities",
        frame=lambda shown: _list_pairs(*shown.similarities(pooling)),
        formats={"before": four, "after": four, "after − before": "%+.4f"},
        shows_index=False,
    )
    own = any(not each.names_no_token for each in followed.run.interventions)
    alone = f" Changes that name a token are made in sentence {followed.sentence + 1} alone." if own else ""
    caption = (
        "**How similar are the sentences?** The cosine of their vectors, before and after, the largest change "
        f"first. The changes are made in every sentence.{alone}"
    )
    yield Group("whatif_pairs_of_sentences", (table, Paragraph(caption, "caption")))


def _list_pairs(before: Array, after: Array) -> pd.DataFrame:
    """Every two sentences' similarity before and after, the largest change first."""
    pairs = list(combinations(range(len(before)), 2))
    old, new = (np.array([similarity[pair] for pair in pairs]) for similarity in (before, after))
    names = [f"{one + 1} and {two + 1}" for one, two in pairs]
    table = pd.DataFrame({"sentences": names, "before": old, "after": new, "after − before": new - old})
    return table.iloc[np.argsort(-np.nan_to_num(np.abs(new - old)), kind="stable")]


def _describe_pooling(pooling: Pooling, followed: Followed) -> str:
    """What a way of pooling means for this model, and what goes wrong with it."""
    run = followed.run
    if pooling == "mean":
        trained = ", as this model was trained" if followed.pooled_in_training else ""
        return f"The mean of all tokens' vectors, special ones included and padding left out{trained} (Sentence-BERT)."
    if pooling == "first token":
        wrong = (
            "This model's training never asked [CLS] to stand for the sentence."
            if followed.pooled_in_training
            else "It can stand for the sentence only where training has asked for that."
        )
        sees = " With the causal mask it sees itself alone, whatever follows." if followed.causal else ""
        return f"The vector of the first token alone, {quote_token(run.tokens[0])}. {wrong}{sees}"
    n = int(run.padding.sum())
    padded = (
        f"Here {n} of {len(run.tokens)} vectors are padding's."
        if n
        else "This sentence has no padding here, so nothing is wrong: add a longer sentence to see it."
    )
    return (
        f"A mean that forgets the mask: padding counts as if it were words. {padded} The vector then depends on how "
        "long the other sentences are."
    )


def show_answers(scene: Scene[Answers], options: Options) -> Iterator[Item]:
    """The probability of each right answer to this sentence, before and after."""
    answers = scene.now
    asked = np.arange(len(answers.right)), np.array(answers.right)
    old, new = answers.before[asked], answers.after[asked]
    n_before, n_after = (int((each.argmax(axis=1) == asked[1]).sum()) for each in (answers.before, answers.after))
    yield Paragraph(
        f"The right answer has a probability of **{new.mean():.0%}** on average, before the changes {old.mean():.0%}. "
        f"The likeliest answer is right at {n_after} of {len(new)} tokens, before at {n_before}."
    )
    table = pd.DataFrame(
        {
            "right answer": [answers.labels[answer] for answer in answers.right],
            "before": old,
            "after": new,
            "likeliest after": [answers.labels[answer] for answer in answers.after.argmax(axis=1)],
        },
        list(answers.tokens),
    ).rename_axis("token")
    yield Table[Answers](
        key="whatif_answers", frame=lambda _: table, is_folded=True, title="Every answer's probability"
    )


def show_tokens(scene: Scene[Followed], options: Options) -> Iterator[Item]:
    """How far each token's vector has moved, by depth, with frames where changes first show."""
    followed = scene.now
    change = stream_change(followed.untouched, followed.run)
    by_length = options["whatif_measure"] == "length of the change"
    numbers = change.relative if by_length else change.cosine
    yield MEASURE
    if by_length:
        finite = numbers[np.isfinite(numbers)]
        told = (
            "The number is the length of the difference, divided by the vector's length before. The largest is "
            f"{write_number(finite.max(initial=0))}."
        )
    else:
        told = (
            "The number is the cosine of the angle between the two: 1 is the same direction. The smallest is "
            f"{write_number(np.nanmin(numbers, initial=1))}."
        )
    yield Heatmap[Followed](
        key="whatif_vectors",
        alt="Heatmap of how far each token's vector has moved, by depth",
        caption="How far is each token's vector from where the untouched model has it? A row is a depth, the number "
        f"of blocks passed; a column is a token. {told} Green frames mark where your changes first show. Click a cell "
        "to choose its token and layer.",
        values=lambda _: numbers,
        rows=depth_axis(len(numbers)),
        columns=token_axis(lambda shown: shown.run.real_tokens),
        bar="moved by" if by_length else "cosine",
        hover="%{x} after %{y} blocks, " + ("moved, in lengths of the vector" if by_length else "cosine"),
        more="farther",
        number=".3g" if by_length else ".4f",
        colours=colour_scales.from_zero if by_length else _below_one,
        frames=lambda shown: _frame_changes(shown.run),
        click="The chosen layer, in its row, and token, in its column. Arrow keys move them.",
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
    last = run.n_real - 1
    framed = []
    for depth, token in list_places(run.interventions):
        columns = (0, last) if token is None else (token, token)
        width = _AROUND_FOCUS if columns[0] == columns[1] else 3
        framed.append(Frame((depth, depth), columns, palette.CHANGE, width))
    return framed


def show_chosen_head(scene: Scene[Followed], most: tuple[int, int] | None = None) -> Iterator[Item]:
    """The chosen head before, after, and the difference; one map where they are the same.

    The difference is left out of the head that has changed `most`, as it stands there already.
    """
    followed, layer, head = scene.now, scene.focus.layer, scene.focus.head
    before, after = (each.pattern(layer)[head] for each in (followed.untouched, followed.run))
    name = f"layer {layer}, head {head}"
    if np.abs(after - before).max() <= FLOAT32_ROUNDING:
        is_earlier = all(each.first_layer > layer for each in followed.run.interventions)
        why = f", as it lies before {followed.your_changes}" if is_earlier else ""
        is_off = any(each.silences_head(layer, head) for each in followed.run.interventions)
        off = " A head that is switched off still attends; what it gathers is lost." if is_off else ""
        same = f"**{name.capitalize()} gives the same weights with and without {followed.your_changes}**"
        yield Paragraph(f"{same}{why}.{off}")
        yield _map_of_head(
            "whatif_before",
            scene.now.run,
            scene.focus,
            before,
            f"**With and without {followed.your_changes}, {name}.**",
        )
        return
    set_by_hand = followed.notes(layer, head)
    caption = f"**With {followed.your_changes}, {name}.** In the same colours.{set_by_hand}"
    untouched = _map_of_head("whatif_before", scene.now.run, scene.focus, before, f"**Untouched, {name}.**")
    yield Columns(((untouched,), (_map_of_head("whatif_after", scene.now.run, scene.focus, after, caption),)))
    if (layer, head) == most:
        yield Paragraph("Their difference stands above: no other head has changed as much.", "caption")
    else:
        yield _map_of_difference("whatif_difference", scene, layer, head)


def _map_of_difference(key: str, scene: Scene[Followed], layer: int, head: int, which: str = "") -> Heatmap[Followed]:
    """What the changes have added to each weight of a head; the focus's frame is on that of the chosen head alone."""
    before, after = (each.pattern(layer)[head] for each in (scene.now.untouched, scene.now.run))
    return _map_of_head(
        key,
        scene.now.run,
        replace(scene.focus, layer=layer, head=head),
        after - before,
        f"**Changed − untouched, layer {layer}, head {head}.**{which} Violet: more weight with "
        f"{scene.now.your_changes}. Orange: less.{scene.now.notes(layer, head)}",
        colours=colour_scales.around_zero,
        magnitude=1.0,
        bar="difference",
        **({} if (layer, head) == (scene.focus.layer, scene.focus.head) else {"click": ""}),
    )


def map_of_heads(key: str, numbers: Array, **chart: Any) -> Heatmap[Any]:
    """Numbers (L, H), a cell a head, which a click on it chooses; `chart` has the other fields of `Heatmap`."""
    options: dict[str, Any] = {
        "click": "The chosen layer, in its row, and head, in its column. Arrow keys move them.",
        "gap": 1,
    }
    return number_by_head(
        key=key,
        values=lambda _: numbers.astype(np.float32),
        more="more",
        **options | chart,
    )


def show_head(run: Run, focus: Focus) -> Iterator[Item]:
    """What the chosen head does while nothing is changed."""
    caption = (
        f"**Layer {focus.layer}, head {focus.head}, as it is.** A row is a token that asks, the query; a column is one "
        "that it attends to, the key. A stronger colour is more weight. Click a cell to choose its query and its key."
    )
    shown: Heatmap[Any] = _map_of_head("whatif_before", run, focus, run.pattern(focus.layer)[focus.head], caption)
    yield Group("", (shown,))  # it proves no answer, and so stands below the buttons


def _map_of_head(key: str, run: Run, focus: Focus, weights: Array, caption: str, **chart: Any) -> Heatmap[Any]:
    """Weights (T, T) of the chosen head, or their difference."""
    options: dict[str, Any] = {"click": CLICK_CELL}
    return head_map(
        key=key,
        alt="Attention: queries in rows, keys in columns.",
        caption=caption,
        weights=lambda _: weights,
        tokens=lambda _: run.tokens,
        allowed=lambda _: run.allowed_in(focus.layer) & ~run.padding[:, None],
        window=lambda _: run.config.window_of(focus.layer),
        visible=lambda _: ~run.padding,
        saved_as=f"{key}_layer{focus.layer}_head{focus.head}",
        **FOR_FINGERS,
        **options | chart,
    )
