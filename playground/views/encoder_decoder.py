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
from playground.charts.names import token_names, token_table
from playground.charts.scene import Scene
from playground.charts.weights import shrink
from playground.errors import InputError
from playground.limits import MAX_TOKENS
from playground.link.opening import LinkedView
from playground.link.query import longest_sentence
from playground.model import EncoderDecoder
from playground.runs.arrays import Array
from playground.runs.budget import check_pair_budget
from playground.runs.pair_run import PairRun, Side, run_pair
from playground.text import Tokenizer, build_tokenizer, split_sentences
from playground.text.wording import count_heads, count_noun, name_device
from playground.training.answers import write_targets
from playground.training.shipped_network import load_translator
from playground.training.tasks.symbol_tasks import split_words
from playground.training.tasks.task import BOS, EOS
from playground.training.tasks.translation import ENGLISH, Translate, is_sentence
from playground.training.trained_network import TrainedNetwork

TRANSLATE = Translate()

GENDER_HEAD = 1, 1
"""The layer and the head whose cross-attention looks at the noun where the decoder writes an article."""

N_ROWS = 5
"""Of the table of next tokens."""

INTRODUCTION = (
    "The *encoder* reads the source sentence once. The *decoder* writes the target, token by token. In "
    "*cross-attention* it looks at what the encoder wrote for each source token."
)
"""What an encoder and a decoder do."""

MASKS = {
    "no peek": ("Causal mask", "The token itself and earlier ones are allowed, later ones are not."),
    "target padding": ("Target padding mask", "Every target token is allowed, [PAD] is not."),
    "combined": ("Causal and target padding mask", "What both allow. For the decoder's self-attention."),
    "source padding": (
        "Source padding mask",
        "Every source token is allowed, [PAD] is not. For encoder and cross-attention.",
    ),
}
"""What the page calls each mask of a run, and what it allows."""

ATTENTIONS = {
    "encoder self": "A row is a source token. It looks at the source (columns), in both directions.",
    "decoder self": "A row is a target token that the decoder reads. It looks at the target (columns), never ahead.",
    "cross": "A row is a target token that the decoder reads. It looks at the encoder's output (columns).",
}

_IN_SENTENCES = {
    "encoder self": "the encoder's self-attention",
    "decoder self": "the decoder's self-attention",
    "cross": "cross-attention",
}

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
    n_built: int
    """Parameters of both halves, as built."""
    weights: str
    """What its weights are called, in markdown."""
    is_random: bool
    """Whether nothing of the weights was learned."""
    translator: TrainedNetwork | None = None
    """The shipped network, where the pair is its example, and not of the visitor's text."""
    words: tuple[str, ...] = ()
    """The example's English sentence."""

    def key(self, name: str) -> str:
        """Of one of the page's parameters: example and own text each have their own."""
        return f"encdec_{name}" if self.translator is None else f"encdec_example_{name}"


def translate_rightly(words: Sequence[str]) -> list[str] | None:
    """The grammar's translation; None where the words are no sentence of it."""
    if not is_sentence(words):
        return None
    symbols = TRANSLATE.symbols(0)
    return [symbols[i - TRANSLATE.first_id] for i in TRANSLATE.answers(_as_ids(words), 0)[0].tolist()]


def _as_ids(words: Sequence[str]) -> torch.Tensor:
    return torch.tensor([[TRANSLATE.first_id + ENGLISH.index(word) for word in words]])


def linked_pair(view: LinkedView) -> Scene[Pair]:
    """The pair that a link's page looks at.

    Raises:
        InputError: the example or the target has no word.
        TooLargeError: the model or the texts are too large.
        WeightsError: the shipped translator is missing.
    """
    is_example = view.values["encdec_source"] == "trained example"
    pair = _translate_example(view.values["encdec_example"]) if is_example else _linked_own_pair(view)
    return Scene(pair)


def _translate_example(sentence: str) -> Pair:
    translator, words = load_translator(), tuple(split_words(sentence))
    if not words:
        raise InputError("The page Encoder-decoder has no English sentence: the encoder needs at least one word.")
    network, vocabulary, longest = translator.network, translator.tokenizer, translator.config.max_len
    if not isinstance(network, EncoderDecoder):
        raise TypeError("the translator has a decoder")
    source = vocabulary.encode_batch([" ".join(words)], longest - 1)
    (line,) = write_targets(network, vocabulary, source, longest - 1)
    run = run_pair(network, source, vocabulary.encode_batch([f"{BOS} {line}"], longest))
    name = name_example(translator)
    return Pair(run, vocabulary, _count_built(network), name, is_random=False, translator=translator, words=words)


def name_example(translator: TrainedNetwork) -> str:
    """What the example's weights are called."""
    return f"trained example, {translator.results.kept_step:,} steps"


def _linked_own_pair(view: LinkedView) -> Pair:
    """The link's sentence and its target line, with random weights: no link carries those of a decoder."""
    lines = split_sentences(view.values["encdec_target"]).sentences
    if not lines:
        raise InputError("The page Encoder-decoder has no target text: the decoder needs at least one token.")
    sources = vocabulary = view.tokenizer
    if sources.name == "word":
        vocabulary = build_tokenizer("word", 0, lines)
    config = replace(view.config, vocab_size=sources.vocab_size)
    check_pair_budget(config, vocabulary.vocab_size, view.lab.source.max_parameters)
    network = EncoderDecoder(config, vocabulary.vocab_size, view.seed).requires_grad_(False)
    target = vocabulary.encode_batch(lines, min(longest_sentence(view.values), MAX_TOKENS))
    run = run_pair(network, view.batch, target, view.sentence, min(view.sentence, len(lines) - 1))
    return Pair(run, vocabulary, _count_built(network), "untrained: random weights", is_random=True)


def _count_built(network: EncoderDecoder) -> int:
    return sum(parameter.numel() for parameter in network.parameters())


def show_encoder_decoder(scene: Scene[Pair], options: Options) -> Iterator[Item]:
    """The page: the next token and where a head looks for it, what the trained example writes, and all behind it."""
    yield Paragraph(INTRODUCTION, "caption")
    yield Paragraph(answer_what_comes_next(scene.now, options), "answer")
    yield from show_translation(scene.now)
    yield from show_reading(scene, options)


def show_reading(scene: Scene[Pair], options: Options) -> Iterator[Item]:
    """What comes next, what was read for it, and panels: the training, the masks, and what two halves cost."""
    pair = scene.now
    yield from show_attention(scene, options)
    yield Paragraph(describe_run(pair), "caption")
    yield show_next_tokens(scene, options)
    if (translator := pair.translator) is not None:
        yield fill_panel(
            options,
            "encdec_show_training",
            "What this translator has learnt",
            lambda: [Paragraph(_describe_training(translator))],
            ":material/school:",
        )
    formula = write_formula(pair.run, str(options[pair.key("attention")]))
    title = "Who may look at whom? The formula and its masks"
    yield fill_panel(options, "encdec_show_masks", title, lambda: (formula, show_masks(scene)), ":material/functions:")
    title = "What do two halves cost? The parameters"
    yield fill_panel(options, "encdec_show_costs", title, lambda: show_parameters(scene), ":material/calculate:")


def answer_what_comes_next(pair: Pair, options: Options) -> str:
    """The likeliest token after the chosen position, and where the open head of the chosen attention looks most."""
    run, position, attention = pair.run, _chosen_position(pair, options), str(options[pair.key("attention")])
    layer, head = _chosen_head(pair, options)
    probabilities, pattern = run.next_words(position), shown_patterns(run, attention)[layer, head]
    if not (np.isfinite(probabilities).all() and np.isfinite(pattern).all()):
        return "Numbers on the way have become too large for 32-bit floats: what comes next cannot be told."
    token = _likeliest_token(pair, position)
    start = "After"
    if pair.is_random:
        start = "**Random weights**, so all of this is chance: after"
    elif unknown := _find_unknown(pair.words):
        start = f"The translator has not learnt {', '.join(map(quote_token, unknown))}, so it may go wrong. After"
    found = (
        f"{start} {quote_place(run.target.tokens, position)}, the decoder's next token is "
        f"{quote_token(token)}, with a probability of **{_write_percent(probabilities.max())}**"
        f"{': it ends its sentence here' if token == EOS else ''}."
    )
    queries, keys = run.sides(attention)
    row = _described_row(run, attention, pattern, position)
    most = int(pattern[row].argmax())
    if pattern[row, most] > 0:
        side = "source" if keys is run.source else "target"
        looks = "looks" if queries is run.target else f"looks from {quote_place(queries.tokens, row)}"
        found += (
            f" In {_IN_SENTENCES[attention]}, layer {layer}, head {head} {looks} most at "
            f"{quote_place(keys.tokens, most)} of the {side}, with weight "
            f"**{_write_largest_weight(pattern[row, most])}**."
        )
    return found


def _write_percent(probability: float) -> str:
    """A probability in percent, with two digits or a few more, and never rounded to 0 or 100."""
    percent = 100 * probability
    if percent < 0.0001:
        return "less than 0.0001%"
    if percent > 99.9:
        return "more than 99.9%"
    return f"{percent:.3g}%" if percent > 99 else f"{percent:.0f}%" if percent >= 10 else f"{percent:.2g}%"


def _write_largest_weight(weight: float) -> str:
    """A row's largest weight, in so many digits that no other than 1 is written as 1, and none but 0 as 0."""
    if weight < 0.1:
        return f"{weight:.2g}"
    return f"{weight:.2f}" if weight < 0.995 or weight == 1 else f"{min(weight, 0.9999):.4f}"


def _chosen_position(pair: Pair, options: Options) -> int:
    return min(int(options[pair.key("position")]), pair.run.target.n_real - 1)


def _likeliest_token(pair: Pair, position: int) -> str:
    """What the decoder writes after a target position."""
    return pair.vocabulary.id_to_token(int(pair.run.logits[position].argmax()))


def _described_row(run: PairRun, attention: str, pattern: Array, position: int) -> int:
    """The row of a pattern (Tq, Tk) that is spoken of: the chosen step's, or the encoder's with the largest weight."""
    return position if run.sides(attention)[0] is run.target else int(pattern.max(axis=1).argmax())


def _chosen_head(pair: Pair, options: Options) -> tuple[int, int]:
    """The chosen layer and head, or the last that there is."""
    n_layers, n_heads = pair.run.patterns["cross"].shape[:2]
    return min(options[pair.key("layer")], n_layers - 1), min(options[pair.key("head")], n_heads - 1)


def show_translation(pair: Pair) -> Iterator[Item]:
    """What the trained example writes, how sure it is, and what would be right."""
    if pair.translator is None:
        return
    run, written = pair.run, pair.run.target.tokens[1:]
    *certainty, at_end = (float(run.next_words(position).max()) for position in range(run.target.n_real))
    yield Paragraph(f"The decoder writes: **{' '.join(written)}**")
    least, word = min(zip([*certainty, at_end], [*written, EOS], strict=True))
    which = "sure of each word" if least > 0.999 else f"least sure of *{word}*"
    sentence = f"It is {which}, with a probability of {_write_percent(least)}."
    right = translate_rightly(pair.words)
    if right is not None:
        is_right = list(written) == right
        sentence += (
            " The translation is right."
            if is_right
            else f" It is wrong: by its grammar it would be *{' '.join(right)}*."
        )
    yield Paragraph(sentence, "caption")
    if strange := _describe_strange_words(pair.translator, pair.words, pair.run.source.n_real):
        yield Paragraph(strange, "info", ":material/help:")


def _describe_strange_words(translator: TrainedNetwork, words: Sequence[str], n_read: int) -> str:
    """What the translator has not learnt of this sentence, of which it read so many words; empty where nothing."""
    if unknown := _find_unknown(words):
        return (
            f"The translator has not learnt {', '.join(map(quote_token, unknown))}: what it writes there is a guess. "
            "All that follows may be wrong too, as each step goes on from what was written before."
        )
    if len(words) > translator.recipe.length:
        cut = f" It reads only the first {n_read}." if n_read < len(words) else ""
        return (
            f"This sentence has {len(words)} words. The translator learnt from sentences of at most "
            f"{translator.recipe.length}: it may lose its place.{cut}"
        )
    if not is_sentence(words):
        return (
            "This is no sentence of the grammar that the translator has learnt: what it writes is a guess. A phrase is "
            "*article (adjective) (colour) noun*; a verb joins the first two, prepositions join more."
        )
    return ""


def _find_unknown(words: Sequence[str]) -> list[str]:
    """The example's words that the translator has not learnt."""
    return [word for word in dict.fromkeys(words) if word not in ENGLISH]


def _describe_training(translator: TrainedNetwork) -> str:
    recipe, results = translator.recipe, translator.results
    return (
        f"This encoder–decoder is small and trained. It learnt from {recipe.n_train:,} made-up sentences in "
        f"{results.kept_step:,} steps. Of {recipe.n_validation:,} other sentences it gets "
        f"{100 * results.validation_accuracy:.4g}% of the words right. Beside the words, two things had to be learnt. "
        "A French colour follows its noun. Articles, adjectives and colours take the noun's gender: *le petit chat "
        f"blanc*, but *la petite maison blanche*. The Training page has its task, *{translator.task.title}*."
    )


def describe_run(pair: Pair) -> str:
    """How much was computed, where, how fast, and whether anything of it was learned."""
    run = pair.run
    return (
        f"{_count_tokens(run.source, 'source')} · {_count_tokens(run.target, 'target')} · "
        f"{count_heads(run.config.n_layers, run.config.n_heads)} in each half · {1000 * run.seconds:.0f} ms on "
        f"{name_device(run.device)} · {pair.weights}"
    )


def _count_tokens(side: Side, name: str) -> str:
    n_padding = side.padding.size - side.n_real
    return f"{count_noun(side.n_real, f'{name} token')}{f' + {n_padding} padding' if n_padding else ''}"


def show_attention(scene: Scene[Pair], options: Options) -> Iterator[Item]:
    """The chosen one of the three attentions: one head large, with the chosen step framed, and every head small."""
    pair = scene.now
    attention = str(options[pair.key("attention")])
    queries, keys = pair.run.sides(attention)
    n_layers, n_heads = pair.run.patterns[attention].shape[:2]
    places = pair.key("layer"), pair.key("head")
    layer, head = _chosen_head(pair, options)
    grid = HeadGrid[Pair](
        key="encdec_grid",
        alt=f"Attention of {count_heads(n_layers, n_heads)} as thumbnails: {attention}.",
        caption="**Every head, small.** Colours grow with the square root of the weight. Click a head to open it.",
        thumbnails=lambda subject: shrink(shown_patterns(subject.run, attention)),
        weights=lambda subject: shown_patterns(subject.run, attention),
        queries=lambda _: queries.tokens,
        keys=lambda _: keys.tokens,
        places=places,
        chosen=dict(zip(places, (layer, head), strict=True)),
        click="The open head. Arrow keys open its neighbours.",
        opens="encdec_pattern",
        saved_as=f"{attention}_attention_all_heads",
        table=lambda subject: _largest_weights(shown_patterns(subject.run, attention)),
        table_title="Every head's largest weight",
    )
    pattern: Heatmap[Pair] = head_map(
        key="encdec_pattern",
        alt=f"Attention weights of {attention}, layer {layer}, head {head}: queries in rows, keys in columns.",
        caption=f"**{attention}, layer {layer}, head {head}.** {ATTENTIONS[attention]}",
        reading=lambda subject: _describe_pattern(
            subject, attention, (layer, head), _chosen_position(subject, options)
        ),
        weights=lambda subject: shown_patterns(subject.run, attention)[layer, head],
        allowed=lambda subject: subject.run.allowed(attention) & ~queries.padding[:, None],
        tokens=lambda _: queries.tokens,
        keys=lambda _: keys.tokens,
        colours=from_zero,
        **FOR_FINGERS,
        saved_as=f"{attention}_attention_layer{layer}_head{head}",
    )
    if queries is pair.run.target:
        pattern = _choose_step_by_row(pattern, pair, options)
    yield Control(pair.key("attention"), "Which attention")
    controls = (
        Control(places[0], "layer, counted from 0", high=n_layers - 1),
        Control(places[1], "head, counted from 0", high=n_heads - 1),
    )
    yield Group("", controls, is_row=True)
    yield Columns(((pattern,), (Later((grid,)),)), shares=(3, 2))


def _choose_step_by_row(pattern: Heatmap[Pair], pair: Pair, options: Options) -> Heatmap[Pair]:
    """The heatmap with the chosen step's row framed, in which a click on a row chooses its step."""
    numbers = [None if padding else row for row, padding in enumerate(pair.run.target.padding)]
    return replace(
        pattern,
        rows=replace(pattern.rows, place=pair.key("position"), numbers=lambda _: numbers),
        columns=replace(pattern.columns, place=""),
        chosen={pair.key("position"): _chosen_position(pair, options)},
        click="The chosen step, in its row. Arrow keys choose its neighbours.",
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

    The last step writes [EOS] and does not count. None where the translation is not the grammar's.
    """
    if list(pair.run.target.tokens[1:]) != translate_rightly(pair.words):
        return None
    places = TRANSLATE.source_places(_as_ids(pair.words))[0].numpy()
    return int((pattern[:-1].argmax(-1) == places).sum())


def _largest_weights(patterns: Array) -> pd.DataFrame:
    return pd.DataFrame(patterns.max(axis=(2, 3))).rename_axis("layer").rename_axis("head", axis=1)


def _describe_pattern(pair: Pair, attention: str, place: tuple[int, int], position: int) -> str:
    """What the weights of a head, by layer and head, are at the chosen step; of the trained example, at every step."""
    run, pattern = pair.run, shown_patterns(pair.run, attention)[place]
    queries, keys = run.sides(attention)
    row = _described_row(run, attention, pattern, position)
    query, key = quote_place(queries.tokens, row), quote_place(keys.tokens, int(pattern[row].argmax()))
    written = quote_token(_likeliest_token(pair, position))
    does = "finds likeliest" if pair.translator is None else "writes"
    n_visible = int(run.allowed(attention)[row].sum())
    told = (
        f"**Framed: it reads {query} and {does} {written}.** Click a row to choose another step. "
        if queries is run.target
        else f"The largest weight of all is in the row of {query}. "
    ) + (
        f"Its weights add up to 1: the largest, {_write_largest_weight(pattern[row].max())}, lies on {key}; spread "
        f"evenly, each would be {1 / n_visible:.3g}."
    )
    n_aligned = count_aligned(pair, pattern) if pair.translator and attention == "cross" else None
    if n_aligned is None:
        return told
    gender_layer, gender_head = GENDER_HEAD
    head = "This head" if place == GENDER_HEAD else f"Layer {gender_layer}, head {gender_head}"
    return (
        f"{told} For {n_aligned} of {run.target.n_real - 1} words, the largest weight lies on the word that is "
        f"translated. {head} finds the gender: where an article is written, it looks at the noun."
    )


def show_next_tokens(scene: Scene[Pair], options: Options) -> Group:
    """The tokens that the logits of one target position rank highest, with their probabilities."""
    pair = scene.now
    run, last = pair.run, pair.run.target.n_real - 1
    position = _chosen_position(pair, options)
    probabilities, so_far = run.next_words(position), run.target.tokens[: position + 1]
    best = 100 * float(probabilities.max())
    digits = next((n for n in range(4, 9) if float(f"{best:.{n}g}") < 100), 9)  # what is not certain is not written so
    items: list[Item] = [
        Paragraph("What comes next?", "header"),
        Paragraph(
            "The decoder gives every token a score, its *logit*. The softmax turns these into probabilities. "
            + (
                "Until the decoder is trained, their order is chance."
                if pair.is_random
                else "[BOS] marks the beginning, [EOS] the end."
            ),
            "caption",
        ),
        Control(pair.key("position"), "step: the token that the decoder reads, by its position", high=last),
        Paragraph(f"So far: {escape_markdown(' '.join(so_far))}"),
        Table[Pair](
            key="encdec_next",
            frame=lambda subject: rank_next_tokens(subject, position),
            formats={"probability, %": f"%.{digits}g", "logit": "%.3f"},
        ),
    ]
    reading = f"An even guess gives each of the {probabilities.size:,} tokens {_write_percent(1 / probabilities.size)}."
    if position < last:
        token = run.target.ids[position + 1]
        place = 1 + int((probabilities > probabilities[token]).sum())
        whose = "The translation" if pair.translator else "Your target"
        items.append(Paragraph(f"{whose} goes on with: {escape_markdown(run.target.tokens[position + 1])}"))
        reading += f" The token that it goes on with has {_write_percent(probabilities[token])}, place {place:,}."
    elif _likeliest_token(pair, position) == EOS:
        items.append(Paragraph("The sentence ends here."))
    return Group("encdec_next_tokens", (*items, Paragraph(reading, "caption")))


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
        Paragraph(
            "A row is a *query*, the token that looks. A column is a *key*, a token that is looked at. "
            "**Violet is allowed (True), grey is hidden (False).**",
            "caption",
        ),
        Columns(tuple((_mask_map(scene.now.run, name),) for name in MASKS), gap="small"),
    ]
    n_padding = target.padding.size - target.n_real
    if n_padding:
        text = (
            "Tutorial E · From Scratch lets padding mask the query *rows* instead of the key columns. "
            f"Here its padded queries, {n_padding} of them, would attend evenly to everything, and only the causal "
            "mask would hide padded keys."
        )
        if scene.now.run.source.padding.any():
            text += " A source has no causal mask: there, every token would read padding."
        items.append(Paragraph(text, "caption"))
    combined = Table[Pair](
        key="encdec_masks",
        frame=lambda pair: token_table(pair.run.masks["combined"].astype(np.uint8), pair.run.target.tokens),
        is_folded=True,
        title=f"The numbers: {MASKS['combined'][0].lower()}",
    )
    return Group("encdec_masks", (*items, combined))


def _mask_map(run: PairRun, name: str) -> Heatmap[Pair]:
    """One mask (Tq, Tk), small: violet where the query (row) may look at the key (column), grey where it is hidden."""
    title, rule = MASKS[name]
    keys, side = (run.source, "source") if name == "source padding" else (run.target, "target")
    mask = run.masks[name]
    n_hidden = int((~mask).sum())
    hides = f"It hides {n_hidden} of {mask.size} pairs here." if n_hidden else "It hides nothing here."
    cells: Any = mask.view(np.uint8)  # two colours rather than numbers
    return Heatmap(
        key=f"encdec_mask_{name.replace(' ', '_')}",
        alt=f"{title}: {mask.sum()} of {mask.size} pairs are allowed.",
        caption=f"**{title}.** {rule} {hides}",
        values=lambda _: cells,
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


def _mask_axis(title: str, tokens: Sequence[str]) -> Axis[Pair]:
    """With few ticks, by position: the tokens themselves would not fit, and are where the pointer is."""
    ticks = range(0, len(tokens), -(-len(tokens) // _MOST_TICKS))
    options = {"tickvals": [*ticks], "ticktext": [str(tick) for tick in ticks], "tickangle": None}
    return Axis(title, lambda _: token_names(tokens), options=options)


def show_parameters(scene: Scene[Pair]) -> Iterator[Item]:
    """Parameters of both halves by component, and whether formulas and built model agree."""
    pair = scene.now
    config, tgt_vocab_size = pair.run.config, pair.vocabulary.vocab_size
    count = count_encoder_decoder(config, tgt_vocab_size)
    totals = count.by(_half)
    yield Table[Pair](
        key="encdec_parameters",
        frame=lambda _: _count_components(count),
        formats=dict.fromkeys((*totals, "together"), "localized"),
    )
    if pair.n_built != count.total:
        yield Paragraph(
            f"The formulas add up to {count.total:,} parameters, but the built model holds {pair.n_built:,}: report "
            "it.",
            "error",
        )
        return
    third_norm = "" if config.norm == "none" else " and a third norm"
    source = "" if tgt_vocab_size == config.vocab_size else f" instead of {config.vocab_size:,}"
    yield Paragraph(
        f"✓ formulas: {count.total:,} = the model's `numel()`. Decoder less encoder is "
        f"{totals['decoder'] - totals['encoder']:,}. Each of the decoder's "
        f"{config.n_layers} blocks has a second attention{third_norm}; its table has {tgt_vocab_size:,} "
        f"tokens{source}. The *output map* turns a vector into a score for every target token. The paper shares its "
        "matrix with the embeddings; here it has its own.",
        "caption",
    )


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
