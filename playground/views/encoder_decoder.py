"""An encoder and a decoder on one pair of sentences: three attentions, the next token, masks, and parameters."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import torch

from playground.accounting import LABELS, Count, Term, count_encoder_decoder
from playground.charts import palette
from playground.charts.chart import (
    Axis,
    Columns,
    Control,
    Formula,
    Group,
    HeadGrid,
    Heatmap,
    Item,
    Later,
    Options,
    Paragraph,
    Table,
    fill_panel,
)
from playground.charts.colour_scales import Colours, from_zero
from playground.charts.head_map import FOR_FINGERS, head_map
from playground.charts.markdown import escape_markdown, quote_place, quote_token
from playground.charts.names import token_names
from playground.charts.scene import Scene
from playground.charts.weights import shrink
from playground.link.lab import read_text
from playground.link.opening import LinkedView
from playground.link.pairs import find_pair, run_pair
from playground.link.state import TRANSLATOR, is_random
from playground.runs.arrays import Array
from playground.runs.pair_run import PairRun
from playground.text import Tokenizer
from playground.training.tasks.task import BOS, EOS
from playground.training.tasks.translation import ENGLISH, TRANSLATE, is_sentence, source_places
from playground.training.trained_network import TrainedNetwork
from playground.views.parameters import count_built_parameters
from playground.words import say

GENDER_HEAD = 1, 1
"""The layer and the head whose cross-attention looks at the noun where the decoder writes an article."""

N_ROWS = 5
"""Of the table of next tokens."""

MASKS = ("no peek", "target padding", "combined", "source padding")

COMPONENTS = ("embeddings", "self-attention", "cross-attention", "feed-forward", "norms", "output map")

_MOST_TICKS = 8
_MOST_CELLS_WITH_GAPS = 40  # a row; more are a few pixels wide, and the gaps would cover them
_TWO_COLOURS = [[0, palette.MUTED], [0.5, palette.MUTED], [0.5, palette.ATTENTION], [1, palette.ATTENTION]]


@dataclass(frozen=True)
class Pair:
    """What the page looks at: the run of one pair of sentences, and what its model is."""

    run: PairRun
    vocabulary: Tokenizer
    """Of the target."""
    weights: str = "random"
    """`random`, `translator`, or `trained` here."""
    n_cut: tuple[int, int] = (0, 0)
    """Tokens of source and target that are left out."""
    line: str = ""
    """The target line, as it was read."""
    translator: TrainedNetwork | None = None
    """The shipped network, where the pair is its example, and not of the visitor's text."""
    words: tuple[str, ...] = ()
    """The example's English sentence."""

    def key(self, name: str) -> str:
        """Of one of the page's parameters: example and own text each have their own."""
        return f"encdec_{name}" if self.translator is None else f"encdec_example_{name}"


def pair_scene(view: LinkedView) -> Scene[Pair]:
    """Return the pair that a page looks at; raises as `find_pair` and `run_pair`."""
    key, source = find_pair(view.lab, view.values), view.lab.source
    run, vocabulary = run_pair(source, key), source.tokenizer(key.target)
    if key.weights == TRANSLATOR:
        words = tuple(key.source.sentences[0].split())
        return Scene(Pair(run, vocabulary, "translator", translator=source.translator(), words=words))
    weights = "random" if is_random(key.weights) else "trained"
    read, target = read_text(source, key.source), read_text(source, key.target)
    n_cut = read.truncated[key.sentence], target.truncated[key.line]
    return Scene(Pair(run, vocabulary, weights, n_cut, key.target.sentences[key.line]))


def translate_rightly(words: Sequence[str]) -> list[str] | None:
    """Return the grammar's translation; None if the words are no sentence of it."""
    if not is_sentence(words):
        return None
    symbols = TRANSLATE.symbols(0)
    return [symbols[i - TRANSLATE.first_id] for i in TRANSLATE.answers(_as_ids(words), 0)[0].tolist()]


def _as_ids(words: Sequence[str]) -> torch.Tensor:
    return torch.tensor([[TRANSLATE.first_id + ENGLISH.index(word) for word in words]])


def show_encoder_decoder(scene: Scene[Pair], options: Options) -> Iterator[Item]:
    """The page: the next token and where a head looks for it, what the trained example writes, and all behind it."""
    pair = scene.now
    yield Paragraph(say("encoder_decoder", "next", **find_next(pair, options)), "answer")
    yield from show_texts(pair)
    yield from show_attention(scene, options)
    sizes = {"layers": pair.run.config.n_layers, "heads": pair.run.config.n_heads, "weights": pair.weights}
    n_read = {"source": pair.run.source.n_real, "target": pair.run.target.n_real}
    yield Paragraph(say("encoder_decoder", "run", **sizes, **n_read), "caption")
    yield show_next_tokens(scene, options)
    if (translator := pair.translator) is not None:
        recipe, results = translator.recipe, translator.results
        text = say(
            "encoder_decoder", "training.text",
            sentences=recipe.n_train, steps=results.kept_step, others=recipe.n_validation,
            percent=100 * results.validation_accuracy, task=translator.task.title,
        )  # fmt: skip
        title = say("encoder_decoder", "training")
        yield fill_panel(options, "encdec_show_training", title, lambda: [Paragraph(text)], ":material/school:")
    title, formula = say("encoder_decoder", "masks"), write_formula(pair.run, str(options[pair.key("attention")]))
    yield fill_panel(options, "encdec_show_masks", title, lambda: (formula, show_masks(scene)), ":material/functions:")
    title = say("encoder_decoder", "costs")
    yield fill_panel(options, "encdec_show_costs", title, lambda: show_parameters(scene), ":material/calculate:")


def find_next(pair: Pair, options: Options) -> dict[str, Any]:
    """The likeliest token after the chosen position, and where the open head of the chosen attention looks most."""
    run, position, attention = pair.run, _chosen_position(pair, options), str(options[pair.key("attention")])
    layer, head = _chosen_head(pair, options)
    row, key, weight = find_largest(run, attention, shown_patterns(run, attention)[layer, head], position)
    queries, keys = run.sides(attention)
    return {
        "read": quote_place(run.target.tokens, position),
        "token": quote_token(_likeliest_token(pair, position)),
        "percent": 100 * run.next_words(position).max(),
        "attention": attention.replace(" ", "-"),
        "layer": layer,
        "head": head,
        "query": quote_place(queries.tokens, row),
        "key": quote_place(keys.tokens, key),
        "weight": weight,
    }


def find_largest(run: PairRun, attention: str, pattern: Array, position: int) -> tuple[int, int, float]:
    """Return query, key and weight where a pattern (Tq, Tk) is largest at a step; of the encoder's, of all."""
    is_step = run.sides(attention)[0] is run.target
    row = position if is_step else int(pattern.max(axis=1).argmax())
    key = int(pattern[row].argmax())
    return row, key, float(pattern[row, key])


def _chosen_position(pair: Pair, options: Options) -> int:
    return min(int(options[pair.key("position")]), pair.run.target.n_real - 1)


def _likeliest_token(pair: Pair, position: int) -> str:
    """What the decoder writes after a target position."""
    return pair.vocabulary.id_to_token(int(pair.run.logits[position].argmax()))


def _chosen_head(pair: Pair, options: Options) -> tuple[int, int]:
    """The chosen layer and head, or the last that there is."""
    n_layers, n_heads = pair.run.patterns["cross"].shape[:2]
    return min(options[pair.key("layer")], n_layers - 1), min(options[pair.key("head")], n_heads - 1)


def show_texts(pair: Pair) -> Iterator[Item]:
    """What both halves read: what the example writes and how sure it is; what of one's own text is left out."""
    if pair.translator is None:
        for side, read, n_cut in zip(("source", "target"), (pair.run.source, pair.run.target), pair.n_cut, strict=True):
            if n_cut:
                text = say("encoder_decoder", "cut", side=side, kept=read.n_real, cut=n_cut)
                yield Paragraph(text, "info", ":material/content_cut:")
        if pair.line.startswith(BOS):
            yield Paragraph(say("encoder_decoder", "line", line=escape_markdown(pair.line)), "caption")
        return
    case, numbers = find_translation(pair)
    yield Paragraph(say("encoder_decoder", "written", text=" ".join(pair.run.target.tokens[1:])))
    yield Paragraph(say("encoder_decoder", f"written-{case}", **numbers), "caption")
    case, numbers = find_strange(pair.words, pair.translator.recipe.length)
    if case:
        yield Paragraph(say("encoder_decoder", f"strange-{case}", **numbers), "info", ":material/help:")


def find_translation(pair: Pair) -> tuple[str, dict[str, Any]]:
    """Whether the translation is `right`, `wrong` or, without a right one, `open`; and where it is least sure."""
    run, written = pair.run, [*pair.run.target.tokens[1:], EOS]
    certainty = [float(run.next_words(position).max()) for position in range(run.target.n_real)]
    least = int(np.argmin(certainty))
    numbers: dict[str, Any] = {"word": quote_token(written[least]), "percent": 100 * certainty[least]}
    right = translate_rightly(pair.words)
    if right is None:
        return "open", numbers
    return ("right", numbers) if written[:-1] == right else ("wrong", numbers | {"right": " ".join(right)})


def find_strange(words: Sequence[str], longest: int) -> tuple[str, dict[str, Any]]:
    """What the translator has not learnt of a sentence: its words, its length, its grammar; empty if nothing."""
    if unknown := [word for word in dict.fromkeys(words) if word not in ENGLISH]:
        return "unknown", {"words": ", ".join(map(quote_token, unknown))}
    if len(words) > longest:
        return "long", {"words": len(words), "longest": longest}
    return ("", {}) if is_sentence(words) else ("grammar", {})


def show_attention(scene: Scene[Pair], options: Options) -> Iterator[Item]:
    """The chosen one of the three attentions: one head large, with the chosen step framed, and every head small."""
    pair = scene.now
    attention, position = str(options[pair.key("attention")]), _chosen_position(pair, options)
    queries, keys = pair.run.sides(attention)
    n_layers, n_heads = pair.run.patterns[attention].shape[:2]
    places = pair.key("layer"), pair.key("head")
    layer, head = _chosen_head(pair, options)
    grid = HeadGrid[Pair](
        key="encdec_grid",
        alt=say("encoder_decoder", "grid.alt", layers=n_layers, heads=n_heads, attention=attention),
        caption=say("encoder_decoder", "grid.caption"),
        thumbnails=lambda subject: shrink(shown_patterns(subject.run, attention)),
        weights=lambda subject: shown_patterns(subject.run, attention),
        queries=lambda _: queries.tokens,
        keys=lambda _: keys.tokens,
        places=places,
        chosen=dict(zip(places, (layer, head), strict=True)),
        click=say("encoder_decoder", "grid.click"),
        opens="encdec_pattern",
        saved_as=f"{attention}_attention_all_heads",
        table=lambda subject: (
            pd.DataFrame(shown_patterns(subject.run, attention).max(axis=(2, 3)))
            .rename_axis("layer")
            .rename_axis("head", axis=1)
        ),
        table_title="Every head's largest weight",
    )
    pattern: Heatmap[Pair] = head_map(
        key="encdec_pattern",
        alt=say("encoder_decoder", "pattern.alt", attention=attention, layer=layer, head=head),
        caption=say(
            "encoder_decoder", "pattern.caption",
            attention=attention.replace(" ", "-"), name=attention, layer=layer, head=head,
        ),
        reading=lambda subject: _describe_pattern(subject, attention, (layer, head), position),
        weights=lambda subject: shown_patterns(subject.run, attention)[layer, head],
        allowed=lambda subject: subject.run.allowed(attention) & ~queries.padding[:, None],
        tokens=lambda _: queries.tokens,
        keys=lambda _: keys.tokens,
        colours=from_zero,
        **FOR_FINGERS,
        saved_as=f"{attention}_attention_layer{layer}_head{head}",
    )  # fmt: skip
    if queries is pair.run.target:
        pattern = _choose_step_by_row(pattern, pair, position)
    yield Control(pair.key("attention"), say("encoder_decoder", "attention"))
    controls = (
        Control(places[0], say("encoder_decoder", "layer"), high=n_layers - 1),
        Control(places[1], say("encoder_decoder", "head"), high=n_heads - 1),
    )
    yield Group("", controls, is_row=True)
    yield Columns(((pattern,), (Later((grid,)),)), shares=(3, 2))


def _choose_step_by_row(pattern: Heatmap[Pair], pair: Pair, position: int) -> Heatmap[Pair]:
    """The heatmap with the chosen step's row framed, in which a click on a row chooses its step."""
    numbers = [None if padding else row for row, padding in enumerate(pair.run.target.padding)]
    return replace(
        pattern,
        rows=replace(pattern.rows, place=pair.key("position"), numbers=lambda _: numbers),
        columns=replace(pattern.columns, place=""),
        chosen={pair.key("position"): position},
        click=say("encoder_decoder", "pattern.click"),
        clicks_beside=False,
    )


def write_formula(run: PairRun, attention: str) -> Formula:
    """One of the three attentions, with its sizes."""
    queries, keys = run.sides(attention)
    query_side, key_side = (
        r"\mathrm{source}" if side is run.source else r"\mathrm{target}" for side in (queries, keys)
    )
    return Formula(
        rf"\underbrace{{\mathrm{{softmax}}(Q_{{{query_side}}} K_{{{key_side}}}^\top / "
        rf"\sqrt{{{run.config.head_width}}})}}_{{{queries.padding.size} \times {keys.padding.size}}}\, V_{{{key_side}}}"
    )


def shown_patterns(run: PairRun, attention: str) -> Array:
    """The weights (L, H, Tq, Tk) of one of the three attentions; nobody reads what padding attends to: 0."""
    weights, (queries, _) = run.patterns[attention], run.sides(attention)
    return np.where(queries.padding[:, None], weights.dtype.type(0), weights)


def count_aligned(pair: Pair, pattern: Array) -> int | None:
    """In how many steps a cross-attention (Tt, Ts) looks most at the word that is translated there.

    The last step writes [EOS] and does not count. None if the translation is not the grammar's.
    """
    if list(pair.run.target.tokens[1:]) != translate_rightly(pair.words):
        return None
    places = source_places(_as_ids(pair.words))[0].numpy()
    return int((pattern[:-1].argmax(-1) == places).sum())


def _describe_pattern(pair: Pair, attention: str, place: tuple[int, int], position: int) -> str:
    """What the weights of a head, by layer and head, are at the chosen step; of the trained example, at every step."""
    run, pattern = pair.run, shown_patterns(pair.run, attention)[place]
    row, key, weight = find_largest(run, attention, pattern, position)
    queries, keys = run.sides(attention)
    told = say(
        "encoder_decoder", "pattern.reading",
        query=quote_place(queries.tokens, row), key=quote_place(keys.tokens, key), weight=weight,
        even=1 / int(run.allowed(attention)[row].sum()),
    )  # fmt: skip
    n_aligned = count_aligned(pair, pattern) if pair.translator and attention == "cross" else None
    if n_aligned is None:
        return told
    layer, head = GENDER_HEAD
    n_words = run.target.n_real - 1
    return f"{told} {say('encoder_decoder', 'aligned', aligned=n_aligned, words=n_words, layer=layer, head=head)}"


def show_next_tokens(scene: Scene[Pair], options: Options) -> Group:
    """The tokens that the logits of one target position rank highest, with their probabilities."""
    pair, run, last = scene.now, scene.now.run, scene.now.run.target.n_real - 1
    position = _chosen_position(pair, options)
    so_far = escape_markdown(" ".join(run.target.tokens[: position + 1]))
    items: list[Item] = [
        Paragraph(say("encoder_decoder", "logits.title"), "header"),
        Paragraph(say("encoder_decoder", "logits"), "caption"),
        Control(pair.key("position"), say("encoder_decoder", "step"), high=last),
        Paragraph(say("encoder_decoder", "step.so-far", text=so_far)),
        Table[Pair](
            key="encdec_next",
            frame=lambda subject: rank_next_tokens(subject, position),
            formats={"probability, %": "%.4g", "logit": "%.3f"},
        ),
    ]
    if position < last:
        place, percent = find_given(run, position)
        token = quote_place(run.target.tokens, position + 1)
        text = say("encoder_decoder", "given", token=token, place=place, percent=percent, tokens=run.logits.shape[1])
        items.append(Paragraph(text, "caption"))
    return Group("encdec_next_tokens", tuple(items))


def find_given(run: PairRun, position: int) -> tuple[int, float]:
    """Return the place, from 1, and the percentage of the token that the target goes on with."""
    probabilities, token = run.next_words(position), run.target.ids[position + 1]
    return 1 + int((probabilities > probabilities[token]).sum()), 100 * float(probabilities[token])


def rank_next_tokens(pair: Pair, position: int) -> pd.DataFrame:
    """The likeliest tokens after a target position, best first."""
    probabilities = pair.run.next_words(position)
    best = np.argsort(-probabilities, kind="stable")[:N_ROWS]
    return pd.DataFrame(
        {
            "next token": [pair.vocabulary.id_to_token(int(token)) for token in best],
            "probability, %": 100 * probabilities[best],
            "logit": pair.run.logits[position, best],
        },
        index=pd.RangeIndex(1, len(best) + 1, name="place"),
    )


def show_masks(scene: Scene[Pair]) -> Group:
    """Which query may look at which key, mask by mask."""
    target = scene.now.run.target
    items: list[Item] = [
        Paragraph(say("encoder_decoder", "masks.colours"), "caption"),
        Columns(tuple((_mask_map(scene.now.run, name),) for name in MASKS), gap="small"),
    ]
    if n_padding := target.padding.size - target.n_real:
        items.append(Paragraph(say("encoder_decoder", "masks.rows", padding=n_padding), "caption"))
    return Group("encdec_masks", tuple(items))


def _mask_map(run: PairRun, name: str) -> Heatmap[Pair]:
    """One mask (Tq, Tk), small: violet where the query (row) may look at the key (column), grey where it is hidden."""
    keys, side = (run.source, "source") if name == "source padding" else (run.target, "target")
    mask, key = run.masks[name], name.replace(" ", "-")
    n_allowed, cells = int(mask.sum()), mask.view(np.uint8)
    return Heatmap[Any](
        key=f"encdec_mask_{name.replace(' ', '_')}",
        alt=say("encoder_decoder", "mask.alt", name=name, allowed=n_allowed, pairs=mask.size),
        caption=say("encoder_decoder", f"mask-{key}", hidden=mask.size - n_allowed, pairs=mask.size),
        values=lambda _: cells,  # type: ignore[arg-type,return-value]
        rows=_mask_axis("query: target token", run.target.tokens),
        columns=_mask_axis(f"key: {side} token", keys.tokens),
        bar="",
        hover="%{y} looks at %{x}; 1 is allowed, 0 is hidden",
        number="d",
        more="",
        colours=lambda _: Colours({"zmin": 0, "zmax": 1, "colorscale": _TWO_COLOURS}),
        gap=1 if max(mask.shape) <= _MOST_CELLS_WITH_GAPS else 0,
        height=230,
        is_tabulated=False,
    )


def _mask_axis(title: str, tokens: Sequence[str]) -> Axis[Any]:
    """With few ticks, by position: the tokens themselves would not fit, and are where the pointer is."""
    ticks = range(0, len(tokens), -(-len(tokens) // _MOST_TICKS))
    options = {"tickvals": [*ticks], "ticktext": [str(tick) for tick in ticks], "tickangle": None}
    return Axis(title, lambda _: token_names(tokens), options=options)


def show_parameters(scene: Scene[Pair]) -> Iterator[Item]:
    """Parameters of both halves by component, by formulas and as built."""
    config, n_words = scene.now.run.config, scene.now.vocabulary.vocab_size
    count = count_encoder_decoder(config, n_words)
    totals = count.by(_half)
    yield Table[Pair](
        key="encdec_parameters",
        frame=lambda _: _count_components(count),
        formats=dict.fromkeys((*totals, "together"), "localized"),
    )
    numbers = {"total": count.total, "built": count_built_parameters(config, n_words), "tokens": n_words}
    more = totals["decoder"] - totals["encoder"]
    written = {name: f"{number:,}" for name, number in (numbers | {"more": more}).items()}
    yield Paragraph(say("encoder_decoder", "costs.text", **written), "caption")


def _count_components(count: Count) -> pd.DataFrame:
    """A row a component and their sum, a column a half and both together."""
    sums = count.by(lambda term: (_component(term), _half(term)))
    halves = {half: [sums.get((component, half), 0) for component in COMPONENTS] for half in count.by(_half)}
    table = pd.DataFrame(halves, index=pd.Index(COMPONENTS, name="component"))
    table["together"] = table.sum(axis=1)
    table.loc["total"] = table.sum()
    return table


def _half(term: Term) -> str:
    return "output map" if term.name == "fc" else term.name.partition(".")[0]


def _component(term: Term) -> str:
    if term.component == "attention":
        return "cross-attention" if ".cross_attn." in term.name else "self-attention"
    return "output map" if term.name == "fc" else LABELS[term.component]
