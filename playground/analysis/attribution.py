"""Why one token attends to another: a score by source, its rivals, what its weight moves, a test by swapping two words.

A score is bilinear: split by source, it is a matrix that adds up to it (Elhage et al. 2021).

Legend: T tokens with padding, H heads, D = d_model, S sources.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from playground.analysis.streams import BIASES, CHANGES, DISTANCE, Parts, Source
from playground.analysis.walkthrough import Walk, list_row_changes
from playground.model import Encoder
from playground.model.attention import maps_by_head
from playground.model.blocks import EncoderBlock
from playground.runs.arrays import Array, Floats
from playground.text import Batch
from playground.text.sentences import Word, is_punctuation, split_words

HeadMaps: TypeAlias = Mapping[str, Floats]
"""The maps of one head in fp64: `q` and `k`, (d_head, D); `q_bias` and `k_bias`, (d_head,); `o`, (D, d_head)."""


def head_maps(encoder: Encoder, layer: int, head: int, piece: int | None = None) -> HeadMaps:
    """Return the maps of one head; `o` reads that piece of the merged heads."""
    block: EncoderBlock = encoder.layers[layer]  # type: ignore[assignment]
    attn = block.attn
    (q, q_bias), (k, k_bias), _ = ((weight[head], bias[head]) for weight, bias in maps_by_head(attn).values())
    o = attn.o.weight.view(-1, attn.n_heads, attn.d_head)[:, head if piece is None else piece]
    tensors = {"q": q, "q_bias": q_bias, "k": k, "k_bias": k_bias, "o": o}
    return {name: tensor.detach().cpu().numpy().astype(np.float64) for name, tensor in tensors.items()}


@np.errstate(invalid="ignore", over="ignore")
def rank_keys(walk: Walk) -> dict[int, float]:
    """Return weights, before changes set them, by key, the highest score first; of equal ones the walk's own key.

    Raises:
        ValueError: the mask hides the key from the query.
    """
    if not walk.allowed[walk.key]:
        raise ValueError("a hidden key does not compete")
    keys, scores = np.flatnonzero(walk.allowed), walk.unmasked()
    keys = keys[np.lexsort((keys != walk.key, -scores[keys]))]
    weights = walk.of_query("attn.pattern")[keys]
    if list_row_changes(walk):
        powers = np.exp(scores[keys] - scores[keys].max())
        weights = powers / powers.sum()
    return dict(zip(keys.tolist(), weights.tolist(), strict=True))


def destination(walk: Walk) -> tuple[int, int]:
    """Return the token whose merged vector gets the head's output, and which of its H pieces."""
    if walk.config.head_merge == "transpose":
        return walk.query, walk.head
    return divmod(walk.head * len(walk.layer.run.tokens) + walk.query, walk.config.n_heads)


@np.errstate(invalid="ignore", over="ignore", divide="ignore")
def move(walk: Walk, maps: HeadMaps) -> tuple[Floats, float, float, float]:
    """Return what a weight w moves, w v (Kobayashi et al. 2020, "Attention is Not Only a Weight").

    Every key's share of z = Σ w v, (w v) · z / ‖z‖², (T,); the walk's key's ‖v‖, ‖W_O w v‖ and share of the output.
    """
    weights = walk.of_query("attn.pattern").astype(np.float64)  # (T,)
    values = walk.layer["attn.v"][walk.head].astype(np.float64)  # (T, d_head)
    z = weights @ values
    written = maps["o"] @ (weights[walk.key] * values[walk.key])  # (D,)
    output = walk.layer["attn.out"][destination(walk)[0]].astype(np.float64)
    lengths = (float(np.linalg.norm(vector)) for vector in (values[walk.key], written))
    return (weights[:, None] * values) @ z / (z @ z), *lengths, float((written @ output) / (output @ output))


Group = Literal["token", "position", "distance", "attention", "feed-forward", "change", "others"]


@dataclass(frozen=True)
class ScoreSplit:
    """A score by source, and its difference to an opponent's."""

    sources: tuple[Source, ...]
    matrix: Floats
    """(S, S), query × key; b_Q and b_K count as biases."""
    relative: Floats
    """(S, S), the same minus the opponent's."""
    score: float
    opponent_score: float
    opponent: int | None = None
    """A position; None: the mean over keys."""

    @property
    def lead(self) -> float:
        """How far the score is above the opponent's."""
        return self.score - self.opponent_score

    @property
    def relative_remainder(self) -> float:
        """What of the lead the relative matrix leaves out."""
        return self.lead - float(self.relative.sum())

    @property
    def by_key_source(self) -> Floats:
        """The lead by source of the key's vector and the opponent's, (S,)."""
        return self.relative.sum(axis=0)  # type: ignore[no-any-return]

    @cached_property
    def amounts(self) -> dict[Group, float]:
        """The lead by group of the key's sources, the largest size first."""
        totals: dict[Group, float] = {}
        for source, amount in zip(self.sources, self.by_key_source, strict=True):
            group: Group = "others" if source.kind in ("segment", "bias") else source.kind  # type: ignore[assignment]
            totals[group] = totals.get(group, 0.0) + float(amount)
        return dict(sorted(totals.items(), key=lambda item: -abs(item[1])))


@np.errstate(invalid="ignore", over="ignore")  # numbers beyond the range of floats end as NaN
def split_score(walk: Walk, stream: Parts, maps: HeadMaps, opponent: int | None = None) -> ScoreSplit:
    """Split a walk's score, and its difference to another key's, by default to the mean over keys."""
    scores, compared = walk.unmasked(), walk.allowed if opponent is None else np.arange(len(walk.allowed)) == opponent
    sources, parts = tuple(stream), np.stack([*stream.values()])
    changed_q, changed_k = (_changes_of(walk, name) for name in ("q", "k"))
    if CHANGES not in sources and (changed_q.any() or changed_k.any()):
        sources, parts = (CHANGES, *sources), np.concatenate([np.zeros_like(parts[:1]), parts])
    carry = partial(_project, walk, maps, sources, parts)
    root, bias = math.sqrt(walk.config.head_width), walk.position_bias()
    query_parts, key_parts = carry("q", [walk.query], changed_q), carry("k", [walk.key], changed_k)  # (S, d_head)
    matrix = query_parts @ key_parts.T / root
    score = float(scores[walk.key])
    if not compared.any():
        relative, opponent_bias, opponent_score = np.full_like(matrix, math.nan), math.nan, math.nan
    else:
        opponent_parts = carry("k", np.flatnonzero(compared), changed_k)
        relative = query_parts @ (key_parts - opponent_parts).T / root
        opponent_bias, opponent_score = float(bias[compared].mean()), float(scores[compared].mean())
    if walk.config.has_position_bias:  # what no vector wrote: a source that meets itself alone
        sources = (*sources, DISTANCE)
        matrix, relative = np.pad(matrix, (0, 1)), np.pad(relative, (0, 1))
        matrix[-1, -1], relative[-1, -1] = bias[walk.key], bias[walk.key] - opponent_bias
    return ScoreSplit(sources, matrix, relative, score, opponent_score, opponent)


def _changes_of(walk: Walk, name: str) -> Floats:
    change = walk.layer.run.change(f"layers.{walk.layer.layer}.attn.{name}")
    shape = walk.layer[f"attn.{name}"][walk.head].shape
    return np.zeros(shape) if change is None else change[walk.head].astype(np.float64)


def _project(
    walk: Walk,
    maps: HeadMaps,
    sources: Sequence[Source],
    parts: Floats,
    name: Literal["q", "k"],
    tokens: Sequence[int] | NDArray[np.intp],
    change: Floats,
) -> Floats:
    """Mean over some tokens: (S, T, D) → (S, d_head)."""
    weight, bias = maps[name], maps[f"{name}_bias"]
    if not walk.config.qk_norm and walk.config.positions != "rotary":
        tokens_mean = parts[:, tokens].mean(axis=1, dtype=np.float64)
        projected: Floats = tokens_mean @ weight.T
        projected[sources.index(BIASES)] += bias
    else:
        each: Floats = parts[:, tokens].astype(np.float64) @ weight.T  # (S, tokens, d_head)
        each[sources.index(BIASES)] += bias
        if walk.config.qk_norm:
            read = walk.projected(name)[tokens].astype(np.float64)
            rms = np.sqrt((read * read).mean(axis=-1, keepdims=True) + walk.config.norm_eps)
            each = each * walk.layer.learned[f"{name}_norm.gain"] / rms
        if walk.config.positions == "rotary":
            each = walk.turn(each, tokens)
        projected = each.mean(axis=1)
    if CHANGES in sources:
        projected[sources.index(CHANGES)] += change[tokens].mean(axis=0)
    return projected


Verdict = Literal["mostly", "mixed", "even", "only", "unknown"]
"""One group has half of all pushes and pulls, or none has; a lead up to `EVEN`; no other key; a sum that is off."""

MOST = 0.5

EVEN = 0.05
"""It changes a weight by 5 %."""

MOST_ROUNDING = 0.1


def judge(split: ScoreSplit, n_keys: int) -> Verdict:
    """Judge a lead over another key."""
    amounts = split.amounts
    if not all(map(math.isfinite, (*amounts.values(), split.lead))):
        return "unknown"
    if n_keys == 1:
        return "only"
    if abs(split.lead) <= EVEN:
        return "even"
    if abs(split.relative_remainder) > MOST_ROUNDING * abs(split.lead):
        return "unknown"
    largest, total = next(iter(amounts.values())), sum(map(abs, amounts.values()))
    return "mostly" if largest * split.lead > 0 and abs(largest) >= MOST * total else "mixed"


# --- a claim, tested by the sentence with its two words swapped

CLOSE = 0.05
"""Of weights."""


@dataclass(frozen=True)
class Claim:
    """A query prefers one word to another; a word's weight is the sum of its tokens'."""

    text: str
    words: tuple[Word, ...]
    query: int
    key: int
    rival: int
    pieces: tuple[int, int, int]
    """Which token of its word query, key and rival are."""
    positions: tuple[int, int, int] = (0, 0, 0)
    weights: tuple[float, float] = (0.0, 0.0)

    def word(self, place: int) -> str:
        """Return a word as it stands in the text."""
        return self.text[self.words[place].start : self.words[place].end]


def find_claim(
    batch: Batch, sentence: int, weights: Array, allowed: Sequence[bool], focus: tuple[int, int], rival: int | None
) -> Claim | None:
    """Return what can be tested of weights (T,); None without three words.

    Without a rival that is another word, it is the strongest one.
    """
    text, end = batch.sentences[sentence], max((end for _, end in batch.offsets[sentence]), default=0)
    words = tuple(word for word in split_words(text) if word.end <= end and not is_punctuation(text[slice(*word)]))
    tokens = [tokens_of(batch, sentence, word) for word in words]
    place_of = {position: place for place, positions in enumerate(tokens) for position in positions}
    asks, asked = map(place_of.get, focus)
    if asks is None or asked is None or asks == asked:
        return None
    totals = [float(weights[positions].sum(dtype=np.float64)) for positions in tokens]
    spelled = [text[slice(*word)].casefold() for word in words]
    others = [
        place
        for place, positions in enumerate(tokens)
        if positions
        and place not in (asks, asked)
        and spelled[place] != spelled[asked]
        and all(allowed[position] for position in positions)
    ]
    if not others:
        return None
    wanted = None if rival is None else place_of.get(rival)
    other = wanted if wanted in others else max(others, key=lambda place: totals[place])
    positions = (*focus, rival if rival is not None and wanted == other else tokens[other][0])
    pieces = tokens[asks].index(positions[0]), tokens[asked].index(positions[1]), tokens[other].index(positions[2])
    return Claim(text, words, asks, asked, other, pieces, positions, (totals[asked], totals[other]))


def tokens_of(batch: Batch, sentence: int, word: Word) -> list[int]:
    """Return the positions of a word's tokens."""
    spans = zip(batch.offsets[sentence], batch.special[sentence], strict=True)
    return [i for i, ((start, end), extra) in enumerate(spans) if not extra and start < word.end and end > word.start]


def swap_words(claim: Claim) -> Claim:
    """Return the text in which the key's and the rival's word have changed places, to be measured."""
    order = list(range(len(claim.words)))
    order[claim.key], order[claim.rival] = claim.rival, claim.key
    written, words, end = "", [], 0
    for word, place in zip(claim.words, order, strict=True):
        written += claim.text[end : word.start]
        words.append(Word(len(written), len(written) + len(claim.word(place))))
        written, end = written + claim.word(place), word.end
    return replace(claim, text=written + claim.text[end:], words=tuple(words), key=claim.rival, rival=claim.key)


def measure(claim: Claim, batch: Batch, pattern: Array) -> Claim | None:
    """Measure a claim by a pattern (T, T); None if a word is missing."""
    tokens = [tokens_of(batch, 0, claim.words[place]) for place in (claim.query, claim.key, claim.rival)]
    if not all(tokens) or any(batch.unknown[0][position] for position in tokens[1]):
        return None
    query, key, rival = (each[min(piece, len(each) - 1)] for each, piece in zip(tokens, claim.pieces, strict=True))
    of_key, of_rival = (float(pattern[query, each].sum(dtype=np.float64)) for each in tokens[1:])
    return replace(claim, positions=(query, key, rival), weights=(of_key, of_rival))


def judge_swap(before: tuple[float, float], after: tuple[float, float]) -> Literal["word", "place", "close"]:
    """Judge what has more in both orders of two words, at two decimals."""
    shown = [[float(f"{weight:.2f}") for weight in pair] for pair in (before, after)]
    if any(round(abs(first - second), 2) < CLOSE for first, second in shown):
        return "close"
    was_first, is_first = (first > second for first, second in shown)
    return "word" if was_first == is_first else "place"
