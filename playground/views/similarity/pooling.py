"""How tokens become one vector, what the weights have learnt of similarity, and what a cosine does not prove."""

from collections.abc import Sequence

from playground.analysis.sentences import Pair, Pooling, SentenceDepths, spread_of_pairs
from playground.charts.figure import Array
from playground.charts.markdown import quote_token
from playground.text.wording import join_words, write_decimals
from playground.views.similarity.sentences import OPPOSITE, SWAPPED, Sentences


def describe_weights(subject: Sentences) -> str:
    """What these weights have learnt of similarity."""
    depths, drawn = subject.depths, ""
    if subject.config.vocab_size == 0:
        drawn = " Words are vectors drawn from the seed: only equal words are alike."
    if subject.weights == "random":
        spread = ""
        if len(depths.tokens) > 1 and depths.is_finite:
            low, high = spread_of_pairs(depths.similarity("mean"))
            ends = f"{write_decimals(low, 2)} to {write_decimals(high, 2)}"
            spread = f" Mean vectors of different sentences are at {ends}, whatever they mean."
        return (
            "**These weights are random**: nothing was learned, so no number here is about meaning. A cosine shows "
            f"which tokens two sentences share, where these stand, and chance.{spread}{drawn}"
        )
    if subject.task:
        return (
            f"**Trained here**: this network has learnt the task {subject.task}, and never to compare sentences. "
            "Its similarity shows what that task needs."
        )
    if subject.weights == "minilm":
        return (
            "**The trained model was made for this.** It read pairs of texts that belong together, such as a question "
            "and its answer. Their mean vectors were moved together, those of other pairs apart."
        )
    return (
        "**Your own weights**: what they were trained for decides what is alike here. Without training on pairs of "
        f"sentences, a high cosine need not mean the same meaning.{drawn}"
    )


def describe_pooling(subject: Sentences, pooling: Pooling, pair: Pair) -> str:
    """What the chosen pooling is, and what it does to the numbers on the screen."""
    if pooling == "mean":
        made = "as the trained model was trained" if subject.weights == "minilm" else "as is usual"
        return f"A sentence's vector is the mean over its tokens' vectors, {made} (Reimers & Gurevych 2019, section 3)."
    if pooling == "first token":
        return f"{_describe_first_token(subject)} {_compare_spreads(subject.depths)}"
    return _describe_padding(subject.depths, pair)


def _describe_first_token(subject: Sentences) -> str:
    batch = subject.batch
    if all(special[0] for special in batch.special):
        token = quote_token(batch.tokens[0][0])
        sentence = f"A sentence's vector is that of its first token, {token}, which the tokenizer adds."
    else:
        sentence = (
            "A sentence's vector is that of its first token: this tokenizer adds no [CLS] that could stand for all."
        )
    if subject.is_changed:
        return sentence
    if subject.causal:
        is_alone = subject.config.head_merge == "transpose"  # the reshape merge mixes tokens, masked or not
        alone = " Under the causal mask it sees no other token, so sentences with the same first token are equal."
        return f"{sentence}{alone if is_alone else ''}"
    if subject.weights == "minilm":
        return f"{sentence} It has read all others, but was trained only as one of those in the mean."
    return sentence


def _compare_spreads(depths: SentenceDepths) -> str:
    if len(depths.tokens) < 2:
        return ""
    low, high = spread_of_pairs(depths.similarity("first token"))
    mean_low, mean_high = spread_of_pairs(depths.similarity("mean"))
    return (
        f"Cosines between different sentences lie from {write_decimals(low, 2)} to {write_decimals(high, 2)}; "
        f"with the mean they lie from {write_decimals(mean_low, 2)} to {write_decimals(mean_high, 2)}."
    )


def _describe_padding(depths: SentenceDepths, pair: Pair) -> str:
    width, lengths = depths.padding.shape[1], depths.n_tokens
    sides = list(dict.fromkeys((pair.first, pair.second)))
    here, right = (float(depths.similarity(way)[pair.first, pair.second]) for way in ("mean with padding", "mean"))
    sentence = (
        f"Every sentence is padded to the longest, {width} tokens, and here the vectors of [PAD] count as well: a "
        "mistake that raises no error."
    )
    padded = [f"sentence {side + 1} has {width - lengths[side]}" for side in sides if lengths[side] < width]
    if not padded:
        mean = write_decimals(right, 3)
        return f"{sentence} The two chosen sentences have no padding, so their cosine is that of the mean: {mean}."
    return (
        f"{sentence} Of the chosen two, {join_words(padded)} of them. Their cosine is {write_decimals(here, 3)} "
        f"instead of {write_decimals(right, 3)}, and depends on how long the longest sentence of the list is."
    )


def how_to_read(texts: Sequence[str], similarity: Array) -> str:
    """What a similarity is, and what it does not prove, with pairs that show it where they are on the screen."""
    shown = ""
    if found := _find_cosines(texts, similarity, OPPOSITE):
        shown += (
            f" Here, *{OPPOSITE[0]}* is at {write_decimals(found[0], 2)} to *{OPPOSITE[1]}*, which says the "
            f"opposite, and at {write_decimals(found[1], 2)} to *{OPPOSITE[2]}*"
        )
    if found := _find_cosines(texts, similarity, SWAPPED):
        shown += f" *{SWAPPED[0]}* is at {write_decimals(found[0], 2)} to *{SWAPPED[1]}*"
    return (
        "**How to read this, and what it does not prove.** A cosine compares directions: 1 is the same, 0 a right "
        "angle. Training on pairs brings together what is about the same thing (Reimers & Gurevych 2019). A shared "
        "topic and shared words raise the cosine, even where the meaning turns around: a negation is one small word, "
        f"and another order changes no word at all.{shown} So no cosine proves by itself that two "
        "sentences mean the same. Read it beside the other pairs, and beside the tokens that they have in common."
    )


def _find_cosines(texts: Sequence[str], similarity: Array, sentences: tuple[str, ...]) -> list[float]:
    """The cosines of the first of these sentences with each of the others; none where one is not on the screen."""
    if not set(sentences) <= set(texts):
        return []
    first, *others = (texts.index(sentence) for sentence in sentences)
    return [float(similarity[first, other]) for other in others]
