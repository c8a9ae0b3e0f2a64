"""A sentence as one vector, and sentences beside each other: which are alike, by which tokens, from which layer on.

Legend: S depths; N sentences; T tokens, padding included; D = d_model; n and m tokens of two sentences, padding
included; W words. A depth counts the blocks passed: 0 is the embeddings; where a final norm follows the last block,
what leaves that norm is one depth more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from playground.analysis.streams import cosine_between_tokens
from playground.config import ModelConfig
from playground.model import Encoder
from playground.model.changes import Change
from playground.runs.arrays import Array, freeze
from playground.runs.encoder_run import Run, residual_points
from playground.runs.variant_runs import can_afford, run_batch
from playground.text import Batch, Tokenizer
from playground.text.sentences import Word, is_punctuation, leave_out, split_words

Pooling = Literal["mean", "first token", "mean with padding"]
"""How a sentence's vectors become one: their mean over its tokens, special ones included, as Sentence-BERT and the
default model were trained (Reimers & Gurevych 2019, section 3); the first token's, which is [CLS] where a tokenizer
adds one; or a mean that forgets the mask, and so depends on how long the batch's other sentences are."""

POOLINGS: tuple[Pooling, ...] = get_args(Pooling)


def pool(vectors: Array, padding: NDArray[np.bool_], pooling: Pooling = "mean") -> Array:
    """One vector for a sentence from those of its tokens: (…, T, D), padding (T,) → (…, D)."""
    if pooling == "first token":
        first: Array = vectors[..., 0, :]
        return first
    counted = np.ones_like(padding) if pooling == "mean with padding" else ~padding
    mean: Array = vectors[..., counted, :].mean(axis=-2, dtype=np.float64).astype(np.float32)
    return mean


def sentence_vector(run: Run, pooling: Pooling = "mean") -> Array:
    """A run's sentence as one vector, (D,), of what left the encoder."""
    return pool(run.arrays["final"], run.padding, pooling)


def sentence_similarity(runs: Sequence[Run], pooling: Pooling = "mean") -> Array:
    """Cosine of the angle between each two sentences' vectors, (N, N), from -1 to 1; runs of one model."""
    return cosine_between_tokens(np.stack([sentence_vector(run, pooling) for run in runs]))


@dataclass(frozen=True)
class SentenceDepths:
    """What an encoder makes of the sentences of one batch; arrays are read-only."""

    tokens: tuple[tuple[str, ...], ...]
    """Each sentence's pieces, and `[PAD]` up to T."""
    padding: NDArray[np.bool_]
    """(N, T)"""
    final: Array
    """(N, T, D): each token's vector as it leaves the encoder."""
    pooled: Mapping[Pooling, Array]
    """(S, N, D): each sentence's vector at each depth, by how its tokens' vectors become one."""

    @property
    def n_tokens(self) -> list[int]:
        """Tokens of each sentence, padding left out."""
        return [int(count) for count in (~self.padding).sum(axis=1)]

    @property
    def is_finite(self) -> bool:
        """Whether every number is within fp32's range."""
        return all(bool(np.isfinite(array).all()) for array in (self.final, *self.pooled.values()))

    def similarity(self, pooling: Pooling, depth: int = -1) -> Array:
        """Cosine of the angle between each two sentences' vectors at a depth, the last by default: (N, N), -1 … 1."""
        return cosine_between_tokens(self.pooled[pooling][depth])


def list_depths(config: ModelConfig) -> list[str]:
    """The trace's names of the points at which sentences are compared, in the order of computation."""
    points = residual_points(config)
    return [*points, "final"] if config.final_norm and config.norm != "none" else points


def read_depths(
    encoder: Encoder,
    batch: Batch,
    *,
    seed: int = 0,
    causal: bool = False,
    interventions: Sequence[Sequence[Change]] = (),
) -> SentenceDepths:
    """Run every sentence of a batch; arguments and errors as of `run_batch`. Every sentence has to have a token."""
    points = list_depths(encoder.config)
    padding = ~batch.mask.numpy()
    n_sentences, n_tokens = padding.shape
    final = np.zeros((n_sentences, n_tokens, encoder.config.d_model), np.float32)
    pooled = {pooling: np.zeros((len(points), n_sentences, encoder.config.d_model), np.float32) for pooling in POOLINGS}
    steps = run_batch(
        encoder, batch, keep=frozenset(points).__contains__, seed=seed, causal=causal, interventions=interventions
    )
    for sentences, arrays in steps:
        for row, sentence in enumerate(sentences):
            final[sentence] = arrays[points[-1]][row]
            for depth, point in enumerate(points):
                for pooling, vectors in pooled.items():
                    vectors[depth, sentence] = pool(arrays[point][row], padding[sentence], pooling)
    freeze(padding, final, *pooled.values())
    tokens = tuple((*row, *["[PAD]"] * (n_tokens - len(row))) for row in batch.tokens)
    return SentenceDepths(tokens, padding, final, pooled)


Array64 = NDArray[np.float64]

_LEAST = 1e-12
"""What is rounding: a smaller share of the variance along an axis, or of the squared lengths in a depth's variance."""


@dataclass(frozen=True)
class DepthMap:
    """Where sentences lie on two axes that all depths share."""

    points: Array64
    """(S, N, 2)"""
    explained: tuple[float, float]
    """The share of all depths' variance along each axis, 0 … 1."""
    explained_at: Array64
    """(S, 2): the share of one depth's own variance along each axis; 0 where its sentences are one point."""


def map_depths(pooled: Array) -> DepthMap:
    """Fit two axes to the vectors of every depth together, and place each sentence at each depth on them.

    Each depth's mean over its sentences is taken off first: the axes show how sentences differ from each other, not how
    depths do. They are the first two principal axes of what is left, (S · N, D) (Pearson 1901; Jolliffe 2002, section
    3.5). An axis points to where its largest coordinate is positive, so that equal numbers give equal pictures.

    Args:
        pooled: (S, N, D), finite, D at least 2.
    """
    vectors = pooled.astype(np.float64)
    centred = vectors - vectors.mean(axis=1, keepdims=True)
    centred[np.square(centred).sum(axis=(1, 2)) <= _LEAST * np.square(vectors).sum(axis=(1, 2))] = 0
    axes = _principal_axes(centred.reshape(-1, centred.shape[-1]))
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=1)[:, None], axis=1)
    axes *= np.where(largest < 0, -1.0, 1.0)
    of_depth = np.square(centred).sum(axis=(1, 2))
    total = float(of_depth.sum())
    points = centred @ axes.T
    along = np.square(points).sum(axis=1)  # (S, 2)
    shares = along.sum(axis=0) / total if total else np.zeros(2)
    return DepthMap(
        points,
        (float(shares[0]), float(shares[1])),
        np.divide(along, of_depth[:, None], where=of_depth[:, None] > 0, out=np.zeros_like(along)),
    )


def _principal_axes(rows: Array64) -> Array64:
    """The two directions in which centred rows (M, D) vary most: (2, D), of length 1; zeros where there is none.

    From the smaller of the two products of the rows with themselves, which takes a tenth of the time of all singular
    vectors: rowsᵀ · rows has the axes as eigenvectors, and rows · rowsᵀ what they give each row.
    """
    is_wide = len(rows) < rows.shape[1]
    values, vectors = np.linalg.eigh(rows @ rows.T if is_wide else rows.T @ rows)
    axes: Array64 = np.zeros((2, rows.shape[1]))
    for number, place in enumerate(range(len(values) - 1, max(len(values) - 3, -1), -1)):
        if values[place] > _LEAST * values.sum():
            axis = rows.T @ vectors[:, place] if is_wide else vectors[:, place]
            axes[number] = axis / np.linalg.norm(axis)
    return axes


class Pair(NamedTuple):
    """Two different sentences, counted from 0, the first one first."""

    first: int
    second: int
    cosine: float


def rank_pairs(similarity: Array) -> list[Pair]:
    """Every pair of two different sentences of a matrix (N, N), the most similar first; equal ones as they stand.

    They are compared to five decimals: further ones are rounding, which differs between processors.
    """
    rows, columns = np.triu_indices(len(similarity), k=1)
    cosines = similarity[rows, columns]
    order = np.argsort(-cosines.round(5), kind="stable")
    return [Pair(int(rows[i]), int(columns[i]), float(cosines[i])) for i in order]


def spread_of_pairs(similarity: Array) -> tuple[float, float]:
    """The lowest and the highest cosine of two different sentences, of a matrix (N, N) with N at least 2."""
    rows, columns = np.triu_indices(len(similarity), k=1)
    cosines = similarity[rows, columns]
    return float(cosines.min()), float(cosines.max())


def common_tokens(batch: Batch) -> NDArray[np.float64]:
    """The share of different tokens that two sentences have in common: (N, N), 0 … 1.

    Of all tokens of either, how many are in both (Jaccard 1912); 0 where neither has one. Special tokens and
    punctuation are left out: a full stop says nothing of what two sentences share. The share knows neither order nor
    meaning, so a cosine that only follows it has added nothing.
    """
    pieces = [
        {token for token, added in zip(tokens, special, strict=True) if not (added or is_punctuation(token))}
        for tokens, special in zip(batch.tokens, batch.special, strict=True)
    ]
    return np.array([[len(one & other) / max(len(one | other), 1) for other in pieces] for one in pieces])


def token_weights(padding: NDArray[np.bool_], pooling: Pooling) -> Array64:
    """The weight of each token's vector in the sentence's vector, as `pool` makes it: padding (n,) → (n,), sum 1."""
    if pooling == "first token":
        weights: Array64 = np.zeros(len(padding))
        weights[0] = 1.0
        return weights
    counted: Array64 = np.ones(len(padding)) if pooling == "mean with padding" else (~padding).astype(np.float64)
    counted /= counted.sum()
    return counted


def token_contributions(
    first: tuple[Array, NDArray[np.bool_]], second: tuple[Array, NDArray[np.bool_]], pooling: Pooling
) -> Array64:
    """What each pair of tokens adds to the cosine of two sentences' vectors: (n, m); all of them add up to it.

    With x̄ = Σ aᵢ xᵢ and ȳ = Σ bⱼ yⱼ, the cosine is Σᵢⱼ aᵢ bⱼ (xᵢ · yⱼ) / (|x̄| |ȳ|). A row's sum is what one token of
    the first sentence adds. All are zero where a sentence's vector is.

    Args:
        first: a sentence's vectors (n, D) as they leave the encoder, and its padding (n,).
        second: those of the other, (m, D) and (m,).
        pooling: where the weights a and b come from.
    """
    left, right = (
        token_weights(padding, pooling)[:, None] * vectors.astype(np.float64) for vectors, padding in (first, second)
    )
    lengths = np.linalg.norm(left.sum(axis=0)) * np.linalg.norm(right.sum(axis=0))
    parts: Array64 = left @ right.T
    return parts / lengths if lengths else np.zeros_like(parts)


@dataclass(frozen=True)
class LeftOutWords:
    """A sentence's similarity to another one, once without each of its words."""

    words: tuple[str, ...]
    """In their order, as they stand in the text."""
    places: tuple[int | None, ...]
    """Each word's first token in the sentence, from 0; None where no token stands for it."""
    similarities: tuple[float, ...]
    """Without that word; as many."""
    n_skipped: int
    """Words at the end that were not left out, as the passes would have been too many."""


def kept_text(batch: Batch, sentence: int) -> str:
    """A sentence's text as far as its tokens go: where it was cut, without what no token stands for."""
    text = batch.sentences[sentence]
    return text[: max((end for _, end in batch.offsets[sentence]), default=0)] if batch.truncated[sentence] else text


def words_to_leave_out(text: str) -> list[Word]:
    """The words of a text; none where one is all there is."""
    words = list(split_words(text))
    return words if len(words) > 1 else []


def first_token(batch: Batch, sentence: int, word: Word) -> int | None:
    """The position of the first token that stands for a part of a word of the sentence's text; None without any."""
    spans = enumerate(batch.offsets[sentence])
    return next((position for position, (start, end) in spans if word.overlaps(start, end)), None)


def is_for_any_text(change: Change) -> bool:
    """Whether a change names no token, position or other sentence: it means the same in a text with a word less."""
    return change.names_no_token and change.kind != "shuffle"


def leave_words_out(
    encoder: Encoder,
    tokenizer: Tokenizer,
    batch: Batch,
    sentence: int,
    other: Array,
    pooling: Pooling,
    *,
    seed: int = 0,
    causal: bool = False,
    interventions: Sequence[Change] = (),
) -> LeftOutWords:
    """Similarities of a sentence without each of its words to another sentence, which stays as it is.

    Every shortened text is padded as the batch is. As many words are left out as `count_affordable` allows; a word
    without which no token is left is passed over.

    Args:
        tokenizer: that of the batch.
        other: (D,), the other sentence's vector by this pooling.
        interventions: what changes in the pass of every shortened text, each `is_for_any_text`.

    Raises:
        InputError: the tokenizer has no token for what is left.
    """
    n_tokens, text = batch.ids.shape[1], kept_text(batch, sentence)
    longest = int(batch.mask.sum(dim=1).argmax())
    words = words_to_leave_out(text)
    n_affordable = next((n for n in range(len(words), 0, -1) if can_afford(encoder.config, n_tokens, n)), 1)
    tried = words[:n_affordable]
    # The longest sentence comes along unread: it makes the padding as wide as the batch's.
    shortened = tokenizer.encode_batch([*(leave_out(text, word) for word in tried), batch.sentences[longest]], n_tokens)
    rows = [row for row in range(len(tried)) if shortened.tokens[row]]
    vectors = np.zeros((len(tried), encoder.config.d_model), np.float32)
    changes = [tuple(interventions)] * len(shortened.tokens)
    for chosen, arrays in run_batch(
        encoder, shortened, keep="final".__eq__, seed=seed, causal=causal, sentences=rows, interventions=changes
    ):
        for place, row in enumerate(chosen):
            vectors[row] = pool(arrays["final"][place], ~shortened.mask[row].numpy(), pooling)
    cosines = cosine_between_tokens(np.concatenate([vectors, other[None]]))[-1, :-1]
    return LeftOutWords(
        tuple(text[tried[row].start : tried[row].end] for row in rows),
        tuple(first_token(batch, sentence, tried[row]) for row in rows),
        tuple(float(cosines[row]) for row in rows),
        len(words) - len(tried),
    )
