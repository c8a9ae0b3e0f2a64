"""What each word of a sentence does for its similarity to another one: the word is left out, and the text run again.

Legend: W words, T tokens, padding included, D = d_model.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from playground.analysis.effects.sentence_vectors import Pooling, pool
from playground.analysis.streams import cosine_between_tokens
from playground.model import Encoder
from playground.model.changes import Change
from playground.runs.arrays import Array
from playground.runs.batch_runs import can_afford, run_batch
from playground.text import Batch, Tokenizer
from playground.text.split_words import Word, leave_out, split_words


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
    words = split_words(text)
    return words if len(words) > 1 else []


def first_token(batch: Batch, sentence: int, word: Word) -> int | None:
    """The position of the first token that stands for a part of a word of the sentence's text; None without any."""
    spans = enumerate(batch.offsets[sentence])
    return next((position for position, (start, end) in spans if start < word.end and end > word.start), None)


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
    for step in run_batch(
        encoder, shortened, keep="final".__eq__, seed=seed, causal=causal, sentences=rows, interventions=changes
    ):
        for place, row in enumerate(step.sentences):
            vectors[row] = pool(step.arrays["final"][place], ~shortened.mask[row].numpy(), pooling)
    cosines = cosine_between_tokens(np.concatenate([vectors, other[None]]))[-1, :-1]
    return LeftOutWords(
        tuple(text[tried[row].start : tried[row].end] for row in rows),
        tuple(first_token(batch, sentence, tried[row]) for row in rows),
        tuple(float(cosines[row]) for row in rows),
        len(words) - len(tried),
    )
