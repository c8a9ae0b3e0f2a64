"""One interface for every tokenizer: sentences in, a padded `Batch` out. B sentences, T tokens."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pydoc_data.topics import topics
from typing import Any

import numpy as np
import tokenizers
import torch
from tokenizers import Regex, models, pre_tokenizers, trainers
from torch import Tensor

from playground.errors import InputError
from playground.text.sentences import replace_surrogates
from playground.text.wording import quote_text


@dataclass(frozen=True)
class Batch:
    """Sentences as padded ids, and as unpadded lists, one item a token."""

    ids: Tensor
    """(B, T) int64."""

    mask: Tensor
    """(B, T) bool; False on padding."""

    tokens: list[list[str]]
    """Each sentence's readable pieces."""

    offsets: list[list[tuple[int, int]]]
    """First character and one past the last; (0, 0) for special tokens."""

    special: list[list[bool]]
    """Added by the tokenizer, such as [CLS]."""

    unknown: list[list[bool]]
    """Outside the vocabulary."""

    sentences: list[str]
    """What `offsets` point into."""

    truncated: list[int]
    """Tokens of each sentence that were cut off."""


@dataclass(frozen=True)
class EncodedSentence:
    """One sentence, as lists of `Batch`."""

    ids: list[int]
    tokens: list[str]
    offsets: list[tuple[int, int]]
    special: list[bool]
    unknown: list[bool]
    truncated: int


def draw_vectors(words: Sequence[str], d_model: int, seed: int) -> Tensor:
    """Draw a standard normal vector for each word, from seed and word alone: (T, d_model)."""
    drawn = {word: _draw_vector(word, d_model, seed) for word in set(words)}
    return torch.from_numpy(np.array([drawn[word] for word in words], np.float32).reshape(len(words), d_model))


def _draw_vector(word: str, d_model: int, seed: int) -> np.ndarray:
    return np.random.default_rng([seed, *word.encode()]).standard_normal(d_model, np.float32)


PRINTABLE_BYTES = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
OTHER_BYTES = [byte for byte in range(0x100) if byte not in PRINTABLE_BYTES]

BYTE_OF_CHARACTER = {chr(byte): byte for byte in PRINTABLE_BYTES} | {
    chr(0x100 + position): byte for position, byte in enumerate(OTHER_BYTES)
}
"""The byte behind each character of a byte-level piece (Radford et al. 2019, as released)."""

UNDECODABLE = {0xDC00 + byte: f"⟨{byte:02X}⟩" for byte in range(0x80, 0x100)}  # as "surrogateescape" leaves them
CONTROL = {code: f"⟨{code:02X}⟩" for code in (*range(0x20), *range(0x7F, 0xA0))}
VISIBLE = UNDECODABLE | CONTROL | {ord(" "): "␣", ord("\n"): "⏎", ord("\t"): "⇥"}


def visible(piece: str) -> str:
    """Show blanks and control characters: "a b" → "a␣b"."""
    return piece.translate(VISIBLE)


def visible_bytes(piece: str) -> str:
    """Show a byte-level piece: "Ġstreet" → "␣street", half a character → "⟨E2⟩"."""
    data = bytes(BYTE_OF_CHARACTER[character] for character in piece)
    return visible(data.decode("utf-8", errors="surrogateescape"))


PAD, UNKNOWN = "[PAD]", "[UNK]"
PADS, UNKNOWNS = (PAD, "<pad>"), (UNKNOWN, "<unk>")


@contextmanager
def backend_errors(problem: str) -> Iterator[None]:
    """Turn the library's untyped exceptions into an InputError."""
    try:
        yield
    except BaseException as error:
        if type(error) is not Exception and type(error).__name__ != "PanicException":  # of its Rust part
            raise
        raise InputError(f"{problem}: {error}") from error


class Tokenizer(ABC):
    """A tokenizer that threads may share."""

    name: str
    vocab_size: int
    """One more than its highest id."""
    pad_id: int

    def encode_batch(self, sentences: Sequence[str], max_tokens: int = sys.maxsize) -> Batch:
        """Tokenise sentences; one over `max_tokens` loses its end but not its closing special token.

        Raises:
            InputError: `sentences` is one text, `max_tokens` leaves no room, or a word is unknown without an [UNK].
        """
        if isinstance(sentences, str):
            raise InputError(f"encode_batch takes a list of sentences: write [{quote_text(sentences)}].")
        texts = [replace_surrogates(sentence) for sentence in sentences]
        encoded = [self._encode(text, max_tokens) for text in texts]
        lengths = torch.tensor([len(one.ids) for one in encoded], dtype=torch.int64)
        ids = torch.full((len(texts), max(lengths.tolist(), default=0)), self.pad_id)  # (B, T)
        for row, one in zip(ids, encoded, strict=True):
            row[: len(one.ids)] = torch.tensor(one.ids)
        mask = torch.arange(ids.shape[1]) < lengths[:, None]  # (B, T)
        columns = ("tokens", "offsets", "special", "unknown", "truncated")
        lists: dict[str, Any] = {name: [getattr(one, name) for one in encoded] for name in columns}
        return Batch(ids=ids, mask=mask, sentences=texts, **lists)

    @abstractmethod
    def id_to_token(self, token_id: int) -> str:
        """Return the readable piece; IndexError outside the vocabulary."""

    @abstractmethod
    def _encode(self, text: str, max_tokens: int) -> EncodedSentence:
        """Encode one sentence."""

    def _check_id(self, token_id: int) -> None:
        if not 0 <= token_id < self.vocab_size:
            raise IndexError(f"token id {token_id} is outside the vocabulary, 0 to {self.vocab_size - 1}")


class LibraryTokenizer(Tokenizer):
    """A tokenizer of the library `tokenizers`; `show` makes a piece readable."""

    def __init__(self, name: str, backend: tokenizers.Tokenizer, show: Callable[[str], str] = visible):
        backend.no_padding()
        backend.no_truncation()
        self.name = name
        self.vocab_size = backend.get_vocab_size()
        self.pad_id = _find_id(backend, PADS) or 0  # without [PAD] any id will do: padding is masked
        self._unknown_id = _find_id(backend, UNKNOWNS)
        self._backend = backend
        self._show = show

    def id_to_token(self, token_id: int) -> str:
        """Return the readable piece; IndexError outside the vocabulary."""
        self._check_id(token_id)
        return self._show(str(self._backend.id_to_token(token_id)))

    def _encode(self, text: str, max_tokens: int) -> EncodedSentence:
        if max_tokens <= self._backend.num_special_tokens_to_add(is_pair=False):
            raise InputError(f"max_tokens={max_tokens} leaves no room for the sentence's own tokens")
        with backend_errors(f"the {self.name} tokenizer can't encode {text[:40]!r}"):
            encoding = self._backend.encode(text)
        own = [place for place, sequence in enumerate(encoding.sequence_ids) if sequence is not None]
        cut = max(0, len(encoding.ids) - max_tokens)
        dropped = set(own[len(own) - cut :])
        kept = [place for place in range(len(encoding.ids)) if place not in dropped]
        ids, tokens, offsets, special = encoding.ids, encoding.tokens, encoding.offsets, encoding.special_tokens_mask
        return EncodedSentence(
            ids=[ids[place] for place in kept],
            tokens=[self._show(tokens[place]) for place in kept],
            offsets=[offsets[place] for place in kept],
            special=[special[place] == 1 for place in kept],
            unknown=[ids[place] == self._unknown_id for place in kept],
            truncated=cut,
        )


def _find_id(backend: tokenizers.Tokenizer, spellings: Sequence[str]) -> int | None:
    found = (backend.token_to_id(spelling) for spelling in spellings)
    return next((token_id for token_id in found if token_id is not None), None)


def english_texts() -> list[str]:
    """Return Python's help topics, about 450,000 characters, in a fixed order."""
    return [topics[name] for name in sorted(topics)]


MIN_BPE_VOCABULARY = 300

MAX_BPE_VOCABULARY = 8_000
"""The corpus has no merges above 9,000."""


def words(sentences: Sequence[str]) -> Tokenizer:
    """Make a vocabulary of the sentences' own words and marks, in order."""
    texts = map(replace_surrogates, sentences)
    splitter = pre_tokenizers.BertPreTokenizer()
    different = dict.fromkeys(word for text in texts for word, _ in splitter.pre_tokenize_str(text))
    return _tokenizer_of_words("word", different, splitter)


@lru_cache(maxsize=1)
def characters() -> Tokenizer:
    """One token a character: [PAD], [UNK], printable ASCII."""
    printable = map(chr, range(ord(" "), ord("~") + 1))
    return _tokenizer_of_words("char", [PAD, UNKNOWN, *printable], pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated"))


def build_tokenizer(name: str, vocab_size: int, sentences: Sequence[str]) -> Tokenizer:
    """Return the tokenizer `word` of these sentences, `bpe`, or `char`."""
    if name == "word":
        return words(sentences)
    return bpe(vocab_size) if name == "bpe" else characters()


def word_level_tokenizer(vocabulary: Sequence[str], *, blanks_between: bool) -> Tokenizer:
    """Return a trained network's tokenizer, ids as in its vocabulary; without blanks, a character a token."""
    apart = pre_tokenizers.Split(Regex(r"\[MASK\]|[\s\S]"), "isolated")
    return _tokenizer_of_words("trained", vocabulary, pre_tokenizers.WhitespaceSplit() if blanks_between else apart)


def _tokenizer_of_words(name: str, vocabulary: Iterable[str], splitter: pre_tokenizers.PreTokenizer) -> Tokenizer:
    ids = {token: index for index, token in enumerate(vocabulary)}
    backend = tokenizers.Tokenizer(models.WordLevel(ids, UNKNOWN))
    backend.pre_tokenizer = splitter
    return LibraryTokenizer(name, backend)


@lru_cache(maxsize=8)
def bpe(vocab_size: int) -> Tokenizer:
    """Train byte-level byte-pair encoding on Python's help topics, in about 0.2 s; 300 to 8,000 tokens, or InputError.

    Sennrich et al. 2016, section 3.2 (merges); Radford et al. 2019, section 2.2 (bytes).
    """
    if not MIN_BPE_VOCABULARY <= vocab_size <= MAX_BPE_VOCABULARY:
        raise InputError(f"vocab_size={vocab_size}: BPE takes {MIN_BPE_VOCABULARY} to {MAX_BPE_VOCABULARY:,} tokens")
    backend = tokenizers.Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=[PAD],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    backend.train_from_iterator(english_texts(), trainer)
    backend.encode_special_tokens = True  # someone who types "[PAD]" means those five characters
    return LibraryTokenizer("bpe", backend, visible_bytes)
