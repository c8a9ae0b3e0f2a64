"""Sentences beside each other: which are alike, by which tokens, from which layer on; and pairs to patch between.

Legend: S depths, N sentences, T, n, m tokens with padding, D = d_model.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from playground.analysis.streams import cosine_between_tokens, unit_vectors
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
"""Mean: Sentence-BERT, Reimers & Gurevych 2019, section 3."""

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


def read_depths(
    encoder: Encoder,
    batch: Batch,
    *,
    seed: int = 0,
    causal: bool = False,
    interventions: Sequence[Sequence[Change]] = (),
) -> SentenceDepths:
    """Run every sentence of a batch, as `run_batch`."""
    d_model, points = encoder.config.d_model, _depth_points(encoder)
    padding = ~batch.mask.numpy()
    n_sentences, n_tokens = padding.shape
    final = np.zeros((n_sentences, n_tokens, d_model), np.float32)
    pooled = {pooling: np.zeros((len(points), n_sentences, d_model), np.float32) for pooling in POOLINGS}
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


def _depth_points(encoder: Encoder) -> list[str]:
    config = encoder.config
    return [*residual_points(config), *["final"] * (config.final_norm and config.norm != "none")]


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


def common_tokens(batch: Batch) -> Array64:
    """Return shares of common tokens (Jaccard 1912), without punctuation: (N, N)."""
    pieces = [
        {token for token, added in zip(tokens, special, strict=True) if not (added or is_punctuation(token))}
        for tokens, special in zip(batch.tokens, batch.special, strict=True)
    ]
    return np.array([[len(one & other) / max(len(one | other), 1) for other in pieces] for one in pieces])


def token_weights(padding: NDArray[np.bool_], pooling: Pooling) -> Array64:
    """Return each token's weight in `pool`: (n,) → (n,)."""
    if pooling == "first token":
        counted = np.arange(len(padding)) == 0
    else:
        counted = np.ones_like(padding) if pooling == "mean with padding" else ~padding
    weights: Array64 = counted / counted.sum()
    return weights


def token_contributions(
    first: tuple[Array, NDArray[np.bool_]], second: tuple[Array, NDArray[np.bool_]], pooling: Pooling
) -> Array64:
    """Return each two tokens' part of the sentences' cosine, aᵢ bⱼ (xᵢ · yⱼ) / (|x̄| |ȳ|): (n, D), (m, D) → (n, m)."""
    left, right = (
        token_weights(padding, pooling)[:, None] * vectors.astype(np.float64) for vectors, padding in (first, second)
    )
    lengths = np.linalg.norm(left.sum(axis=0)) * np.linalg.norm(right.sum(axis=0))
    parts: Array64 = left @ right.T
    return parts / lengths if lengths else np.zeros_like(parts)


# --- one word in several sentences

Places = Mapping[int, Sequence[int]]
"""A word's tokens, by sentence."""


def find_repeated_words(batch: Batch) -> dict[str, Places]:
    """Return the words of more than one sentence, the rarest first; of a sentence, the first occurrence counts."""
    found: dict[str, dict[int, Sequence[int]]] = {}
    for sentence, (text, offsets) in enumerate(zip(batch.sentences, batch.offsets, strict=True)):
        for word in split_words(text):
            tokens = [i for i, span in enumerate(offsets) if word.overlaps(*span)]
            if tokens and text[word.start : word.end].isalnum():
                found.setdefault(text[word.start : word.end].casefold(), {}).setdefault(sentence, tokens)
    repeated = {word: places for word, places in found.items() if len(places) > 1}
    return dict(sorted(repeated.items(), key=lambda each: len(each[1])))


def compare_word_by_depth(
    encoder: Encoder,
    batch: Batch,
    places: Places,
    *,
    seed: int = 0,
    causal: bool = False,
    interventions: Sequence[Sequence[Change]] = (),
) -> tuple[Array, Array]:
    """Return cosines of a word's vectors, the means of its tokens', with the first sentence's: (S, n), 1 in column 0.

    The baseline, (S,), is the mean cosine of the first sentence's vector with the other tokens of the other sentences,
    NaN without any: contextual vectors are alike in general (Ethayarajh 2019, section 4.1).
    """
    points, numbers, n_others = _depth_points(encoder), list(places), 0
    words = np.zeros((len(points), len(places), encoder.config.d_model), np.float32)
    others = np.zeros((len(points), encoder.config.d_model), np.float32)  # sums of unit vectors
    keep: Callable[[str], bool] = frozenset(points).__contains__
    for sentences, arrays in run_batch(
        encoder, batch, keep=keep, seed=seed, causal=causal, sentences=numbers, interventions=interventions
    ):
        for row, sentence in enumerate(sentences):
            own = list(places[sentence])
            counted = enumerate(batch.special[sentence] if sentence != numbers[0] else ())
            rest = [i for i, added in counted if not added and i not in own]
            n_others += len(rest)
            for depth, point in enumerate(points):
                vectors = arrays[point][row]
                words[depth, numbers.index(sentence)] = vectors[own].mean(axis=0)
                others[depth] += unit_vectors(vectors[rest]).sum(axis=0)
    firsts = unit_vectors(words[:, 0])
    baseline = (others * firsts).sum(axis=1) / n_others if n_others else np.full(len(points), np.nan, np.float32)
    return np.stack([cosine_between_tokens(each)[0] for each in words]), baseline


# --- without a word


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
) -> list[tuple[str, int | None, float]]:
    """Leave out each word that can be afforded: return it, its first token, and the cosine with another vector, (D,).

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
    firsts = {row: next((i for i, span in enumerate(offsets) if tried[row].overlaps(*span)), None) for row in rows}
    return [(text[slice(*tried[row])], first, float(cosines[row])) for row, first in firsts.items()]


# --- pairs that differ in a word and have as many tokens, to patch between

Encode = Callable[[Sequence[str]], Batch]

WORD_GROUPS = (
    "animal dog cat horse cow bird fish rabbit mouse",
    "street road river bridge field park garden town room",
    "doctor nurse patient teacher student lawyer judge man woman boy girl child",
    "book ball cup box key car table chair trophy suitcase letter",
    "tired hungry angry happy sad afraid ill young old",
    "big small wide narrow long short heavy light",
    "good bad great poor nice terrible",
    "cross enter leave pass reach see find like love",
    "crossed entered left passed reached saw found liked loved",
    "he she it they we",
    "the a this that every",
    "because although while since before after",
    "is was seems became",
    "in on under near behind",
    "red blue green black white",
    "anna mary john paul",
)
"""Words that may replace each other in a sentence, a group a line."""


def list_alike(word: str, text: str) -> list[str]:
    """Return words of the same kind that are not in the text."""
    kind = next((line.split() for line in WORD_GROUPS if word.lower() in line.split()), WORD_GROUPS[3].split())
    used = {text[each.start : each.end].lower() for each in split_words(text)}
    return [each for each in kind if each not in used]


def find_partners(batch: Batch, sentence: int) -> list[int]:
    """Return the sentences with as many tokens, but other ones."""
    ids = [row[mask].tolist() for row, mask in zip(batch.ids, batch.mask, strict=True)]
    own = ids[sentence]
    return [i for i, other in enumerate(ids) if len(other) == len(own) and other != own]


def changed_tokens(batch: Batch, one: int, two: int) -> list[int]:
    """Return the positions where two sentences of as many tokens differ."""
    return (batch.ids[one] != batch.ids[two]).nonzero()[:, 0].tolist()


def corrupt_word(encode: Encode, batch: Batch, sentence: int, token: int) -> tuple[str, int, str, str] | None:
    """Return a sentence of as many tokens, the first other token, the old word, the new one."""
    text = batch.sentences[sentence]
    around = (word for word in split_words(text) if word.overlaps(*batch.offsets[sentence][token]))
    start, end = next((word for word in around if text[word.start : word.end].isalnum()), (0, 0))
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


def _other_words(text: str, word: str) -> Iterator[str]:
    kinds = [*list_alike(word, text), *(other for line in WORD_GROUPS for other in line.split())]
    for other in dict.fromkeys([*kinds, *filter(str.isalnum, text.split()), word.lower()[::-1]]):
        if other.lower() != word.lower():
            yield other.capitalize() if word[:1].isupper() else other
