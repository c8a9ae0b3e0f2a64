"""Sentences beside each other: which are alike, by which tokens, from which layer on; and pairs to patch between.

Legend: S depths, 0 being the embeddings; N sentences; T, n, m tokens, padding included; D = d_model.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from playground.analysis.counterfactuals import WORD_GROUPS, list_alike
from playground.analysis.streams import cosine_between_tokens
from playground.config import ModelConfig
from playground.errors import InputError
from playground.limits import MAX_CHARACTERS, MAX_SENTENCES
from playground.model import Encoder
from playground.model.changes import Change
from playground.runs.arrays import Array, freeze
from playground.runs.encoder_run import Run, residual_points
from playground.runs.variant_runs import can_afford, run_batch
from playground.text import Batch, Tokenizer
from playground.text.sentences import is_punctuation, leave_out, split_words

Pooling = Literal["mean", "first token", "mean with padding"]
"""How token vectors become one: their mean (Sentence-BERT, Reimers & Gurevych 2019, section 3), the first token's, or a
mean that forgets the mask."""

POOLINGS: tuple[Pooling, ...] = get_args(Pooling)

Array64 = NDArray[np.float64]


def pool(vectors: Array, padding: NDArray[np.bool_], pooling: Pooling = "mean") -> Array:
    """Return one vector for a sentence: (…, T, D), padding (T,) → (…, D)."""
    if pooling == "first token":
        first: Array = vectors[..., 0, :]
        return first
    counted = np.ones_like(padding) if pooling == "mean with padding" else ~padding
    mean: Array = vectors[..., counted, :].mean(axis=-2, dtype=np.float64).astype(np.float32)
    return mean


def sentence_vector(run: Run, pooling: Pooling = "mean") -> Array:
    """Return a run's sentence as one vector, (D,), of what left the encoder."""
    return pool(run.arrays["final"], run.padding, pooling)


def sentence_similarity(runs: Sequence[Run], pooling: Pooling = "mean") -> Array:
    """Return the cosine of each two sentences' vectors, (N, N); runs of one model."""
    return cosine_between_tokens(np.stack([sentence_vector(run, pooling) for run in runs]))


@dataclass(frozen=True)
class SentenceDepths:
    """One batch's sentences at every depth; arrays are read-only."""

    tokens: tuple[tuple[str, ...], ...]
    """Each sentence's pieces, and `[PAD]` up to T."""
    padding: NDArray[np.bool_]
    """(N, T)"""
    final: Array
    """(N, T, D): each token's vector as it leaves the encoder."""
    pooled: Mapping[Pooling, Array]
    """(S, N, D): each sentence's vector at each depth."""

    @property
    def n_tokens(self) -> list[int]:
        """Tokens of each sentence without padding."""
        return [int(count) for count in (~self.padding).sum(axis=1)]

    @property
    def is_finite(self) -> bool:
        """Whether every number is within fp32's range."""
        return all(bool(np.isfinite(array).all()) for array in (self.final, *self.pooled.values()))

    def similarity(self, pooling: Pooling, depth: int = -1) -> Array:
        """Return the cosine of each two sentences' vectors at a depth, (N, N)."""
        return cosine_between_tokens(self.pooled[pooling][depth])


def list_depths(config: ModelConfig) -> list[str]:
    """Return the trace's names of the depths, in order."""
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
    """Run every sentence of a batch, as `run_batch`."""
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


_LEAST = 1e-12


@dataclass(frozen=True)
class DepthMap:
    """Sentences on two axes that all depths share."""

    points: Array64
    """(S, N, 2)"""
    explained: tuple[float, float]
    """Each axis' share of all depths' variance."""
    explained_at: Array64
    """(S, 2): of one depth's own variance; 0 if its sentences are one point."""


def map_depths(pooled: Array) -> DepthMap:
    """Place sentences (S, N, D) at each depth on two principal axes of all depths, each centred (Jolliffe 2002, 3.5).

    An axis points to where its largest coordinate is positive.
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
    """The directions in which centred rows (M, D) vary most, (2, D)."""
    # The smaller product of the rows with themselves takes a tenth of the time of all singular vectors.
    is_wide = len(rows) < rows.shape[1]
    values, vectors = np.linalg.eigh(rows @ rows.T if is_wide else rows.T @ rows)
    axes: Array64 = np.zeros((2, rows.shape[1]))
    for number, place in enumerate(range(len(values) - 1, max(len(values) - 3, -1), -1)):
        if values[place] > _LEAST * values.sum():
            axis = rows.T @ vectors[:, place] if is_wide else vectors[:, place]
            axes[number] = axis / np.linalg.norm(axis)
    return axes


class Pair(NamedTuple):
    """Two different sentences, from 0, the first one first."""

    first: int
    second: int
    cosine: float


def rank_pairs(similarity: Array) -> list[Pair]:
    """Return every pair of sentences of a matrix (N, N), the most similar first."""
    rows, columns = np.triu_indices(len(similarity), k=1)
    cosines = similarity[rows, columns]
    order = np.argsort(-cosines.round(5), kind="stable")  # further decimals differ between processors
    return [Pair(int(rows[i]), int(columns[i]), float(cosines[i])) for i in order]


def spread_of_pairs(similarity: Array) -> tuple[float, float]:
    """Return the lowest and the highest cosine of two different sentences, (N, N)."""
    cosines = similarity[np.triu_indices(len(similarity), k=1)]
    return float(cosines.min()), float(cosines.max())


def common_tokens(batch: Batch) -> Array64:
    """Return the share of tokens that two sentences have in common (Jaccard 1912), without punctuation: (N, N)."""
    pieces = [
        {token for token, added in zip(tokens, special, strict=True) if not (added or is_punctuation(token))}
        for tokens, special in zip(batch.tokens, batch.special, strict=True)
    ]
    return np.array([[len(one & other) / max(len(one | other), 1) for other in pieces] for one in pieces])


def token_weights(padding: NDArray[np.bool_], pooling: Pooling) -> Array64:
    """Return the weight of each token's vector in `pool`: padding (n,) → (n,), sum 1."""
    if pooling == "first token":
        counted = np.arange(len(padding)) == 0
    else:
        counted = np.ones_like(padding) if pooling == "mean with padding" else ~padding
    weights: Array64 = counted / counted.sum()
    return weights


def token_contributions(
    first: tuple[Array, NDArray[np.bool_]], second: tuple[Array, NDArray[np.bool_]], pooling: Pooling
) -> Array64:
    """Return what each pair of tokens adds to the cosine of two sentences: vectors (n, D), (m, D), paddings → (n, m).

    With x̄ = Σ aᵢ xᵢ and ȳ = Σ bⱼ yⱼ, the cosine is Σᵢⱼ aᵢ bⱼ (xᵢ · yⱼ) / (|x̄| |ȳ|); zeros if x̄ or ȳ is.
    """
    left, right = (
        token_weights(padding, pooling)[:, None] * vectors.astype(np.float64) for vectors, padding in (first, second)
    )
    lengths = np.linalg.norm(left.sum(axis=0)) * np.linalg.norm(right.sum(axis=0))
    parts: Array64 = left @ right.T
    return parts / lengths if lengths else np.zeros_like(parts)


# --- without a word


@dataclass(frozen=True)
class LeftOutWords:
    """A sentence's similarity to another one, without each of its words."""

    words: tuple[str, ...]
    places: tuple[int | None, ...]
    """Each word's first token, from 0; None if it has none."""
    similarities: tuple[float, ...]


def is_for_any_text(change: Change) -> bool:
    """Whether a change means the same in a text with a word less."""
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
    """Compare a sentence without each of its words with another sentence's vector, (D,).

    Shortened texts are padded as the batch is. As many words are left out as can be afforded.

    Raises:
        InputError: the tokenizer has no token for what is left.
    """
    n_tokens, text, offsets = batch.ids.shape[1], batch.sentences[sentence], batch.offsets[sentence]
    if batch.truncated[sentence]:
        text = text[: max((end for _, end in offsets), default=0)]
    longest = int(batch.mask.sum(dim=1).argmax())
    words = [] if len(split_words(text)) == 1 else split_words(text)
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
    kept = [tried[row] for row in rows]
    return LeftOutWords(
        tuple(text[word.start : word.end] for word in kept),
        tuple(next((i for i, span in enumerate(offsets) if word.overlaps(*span)), None) for word in kept),
        tuple(float(cosines[row]) for row in rows),
    )


# --- pairs that differ in a word and have as many tokens, to patch between

Encode = Callable[[Sequence[str]], Batch]


def find_partners(batch: Batch, sentence: int) -> list[int]:
    """Return the sentences with as many tokens, but other ones."""
    ids = [row[mask].tolist() for row, mask in zip(batch.ids, batch.mask, strict=True)]
    own = ids[sentence]
    return [i for i, other in enumerate(ids) if len(other) == len(own) and other != own]


def changed_tokens(batch: Batch, one: int, two: int) -> list[int]:
    """Return the positions where two sentences of as many tokens differ."""
    return (batch.ids[one] != batch.ids[two]).nonzero()[:, 0].tolist()


def corrupt_word(encode: Encode, batch: Batch, sentence: int, token: int) -> tuple[str, int, str, str] | None:
    """Return a sentence of as many tokens with another word, the first other token, the old word and the new one."""
    text = batch.sentences[sentence]
    start, end = _word_around(text, *batch.offsets[sentence][token])
    if start == end or batch.truncated[sentence]:
        return None
    fitting: list[tuple[int, int, tuple[str, int, str, str]]] = []
    for other in _other_words(text, text[start:end]):
        try:
            both = encode([text, f"{text[:start]}{other}{text[end:]}"])
        except InputError:  # a vocabulary lacks one of their words
            continue
        if find_partners(both, 0):
            copied = (both.sentences[1], changed_tokens(both, 0, 1)[0], text[start:end], other)
            fitting.append((sum(both.unknown[1]), len(fitting), copied))
            if fitting[-1][0] == 0:
                break
    return min(fitting)[2] if fitting else None


def append_sentences(text: str, n_sentences: int, added: Sequence[str]) -> str | None:
    """Return a text with further sentences, a line each; None if too long."""
    longer = "\n".join([text.rstrip("\n"), *added]) if text.strip() else "\n".join(added)
    fits = len(longer) <= MAX_CHARACTERS and n_sentences + len(added) <= MAX_SENTENCES
    return longer if fits else None


def _word_around(text: str, start: int, end: int) -> tuple[int, int]:
    at = next((at for at in range(start, end) if text[at].isalnum()), None)
    if at is None:
        return start, start
    start, end = at, at
    while start > 0 and text[start - 1].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum():
        end += 1
    return start, end


def _other_words(text: str, word: str) -> Iterator[str]:
    kinds = [*list_alike(word, text), *(other for line in WORD_GROUPS for other in line.split())]
    for other in dict.fromkeys([*kinds, *filter(str.isalnum, text.split()), word.lower()[::-1]]):
        if other.lower() != word.lower():
            yield other.capitalize() if word[:1].isupper() else other
