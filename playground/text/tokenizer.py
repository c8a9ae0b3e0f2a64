"""One face for every tokenizer: sentences in, a padded `Batch` out."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import tokenizers

from playground.errors import InputError
from playground.limits import MAX_TOKENS
from playground.text.batch import Batch, EncodedSentence, build_batch
from playground.text.pieces import visible
from playground.text.sentences import replace_surrogates

PAD, UNKNOWN = "[PAD]", "[UNK]"


@contextmanager
def backend_errors(problem: str) -> Iterator[None]:
    """Context in which what tokenizers raises for a text or a file, a bare `Exception`, becomes an InputError."""
    try:
        yield
    except Exception as error:
        if type(error) is not Exception:
            raise
        raise InputError(f"{problem}: {error}") from error


class Tokenizer(ABC):
    """A tokenizer that many threads may share: encoding changes nothing in it."""

    name: str
    """`wordpiece`, `word`, `char`, `bpe`, `trained`, `vocabulary` or `ids`."""
    vocab_size: int
    """One more than its highest id."""
    pad_id: int
    """What stands in a batch where there is no token."""

    def encode_batch(self, sentences: Sequence[str], max_tokens: int = MAX_TOKENS) -> Batch:
        """Tokenise sentences; one longer than `max_tokens` loses its end but not its closing special token.

        Lone surrogates are read as U+FFFD.

        Raises:
            InputError: `max_tokens` leaves no room beside the special tokens, or a word is outside a
                vocabulary that has no [UNK].
        """
        texts = [replace_surrogates(sentence) for sentence in sentences]
        return build_batch(texts, [self._encode(text, max_tokens) for text in texts], self.pad_id)

    @abstractmethod
    def id_to_token(self, token_id: int) -> str:
        """Return the readable piece with this id; raises IndexError outside the vocabulary."""

    @abstractmethod
    def _encode(self, text: str, max_tokens: int) -> EncodedSentence:
        """Encode one sentence."""

    def _check_id(self, token_id: int) -> None:
        if not 0 <= token_id < self.vocab_size:
            raise IndexError(f"token id {token_id} is outside the vocabulary, 0 to {self.vocab_size - 1}")


class LibraryTokenizer(Tokenizer):
    """A tokenizer of the library `tokenizers`.

    Args:
        name: as the attribute.
        backend: what does the work; its own padding and truncation are switched off.
        show: makes a piece of the vocabulary readable.
    """

    def __init__(self, name: str, backend: tokenizers.Tokenizer, show: Callable[[str], str] = visible):
        backend.no_padding()
        backend.no_truncation()
        self.name = name
        self.vocab_size = backend.get_vocab_size()
        self.pad_id = backend.token_to_id(PAD) or 0  # without [PAD] any id will do: padding is masked
        self._unknown_id = backend.token_to_id(UNKNOWN)
        self._backend = backend
        self._show = show

    def id_to_token(self, token_id: int) -> str:
        """Return the readable piece with this id; raises IndexError outside the vocabulary."""
        self._check_id(token_id)
        return self._show(str(self._backend.id_to_token(token_id)))

    def _encode(self, text: str, max_tokens: int) -> EncodedSentence:
        """Encode one sentence; the special tokens join after the cut, so that it can't take them away."""
        room = max_tokens - self._backend.num_special_tokens_to_add(is_pair=False)
        if room < 1:
            raise InputError(f"max_tokens={max_tokens} leaves no room for the sentence's own tokens")
        with backend_errors(f"the {self.name} tokenizer can't encode {text[:40]!r}"):
            encoding = self._backend.encode(text, add_special_tokens=False)
        cut = max(0, len(encoding.ids) - room)
        encoding.truncate(room)
        encoding = self._backend.post_process(encoding)
        return EncodedSentence(
            ids=encoding.ids,
            tokens=[self._show(token) for token in encoding.tokens],
            offsets=list(encoding.offsets),
            special=[flag == 1 for flag in encoding.special_tokens_mask],
            unknown=[token_id == self._unknown_id for token_id in encoding.ids],
            truncated=cut,
        )
