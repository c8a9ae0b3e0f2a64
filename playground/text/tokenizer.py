"""One face for every tokenizer: sentences in, a padded `Batch` out."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import tokenizers
import torch

from playground.errors import InputError
from playground.limits import MAX_TOKENS
from playground.text.batch import Batch
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


class Tokenizer:
    """A tokenizer that many threads may share: encoding changes nothing in it.

    Args:
        name: `wordpiece`, `word`, `char`, `bpe` or `trained`.
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

    def encode_batch(self, sentences: Sequence[str], max_tokens: int = MAX_TOKENS) -> Batch:
        """Tokenise sentences; one longer than `max_tokens` loses its end but not its closing special token.

        Lone surrogates are read as U+FFFD.

        Raises:
            InputError: `max_tokens` leaves no room beside the special tokens, or a word is outside a
                vocabulary that has no [UNK].
        """
        texts = [replace_surrogates(sentence) for sentence in sentences]
        encoded = [self._encode(text, max_tokens) for text in texts]
        encodings = [encoding for encoding, _ in encoded]
        lengths = torch.tensor([len(encoding.ids) for encoding in encodings], dtype=torch.int64)
        width = max(lengths.tolist(), default=0)
        ids = torch.full((len(texts), width), self.pad_id)  # (B, T)
        for row, encoding in zip(ids, encodings, strict=True):
            row[: len(encoding.ids)] = torch.tensor(encoding.ids)
        return Batch(
            ids=ids,
            mask=torch.arange(width) < lengths[:, None],  # (B, T)
            tokens=[[self._show(token) for token in encoding.tokens] for encoding in encodings],
            offsets=[list(encoding.offsets) for encoding in encodings],
            special=[[flag == 1 for flag in encoding.special_tokens_mask] for encoding in encodings],
            unknown=[[token_id == self._unknown_id for token_id in encoding.ids] for encoding in encodings],
            sentences=texts,
            truncated=[cut for _, cut in encoded],
        )

    def id_to_token(self, token_id: int) -> str:
        """Return the readable piece with this id; raises IndexError outside the vocabulary."""
        token = self._backend.id_to_token(token_id) if token_id >= 0 else None
        if token is None:
            raise IndexError(f"token id {token_id} is outside the vocabulary, 0 to {self.vocab_size - 1}")
        return self._show(token)

    def _encode(self, text: str, max_tokens: int) -> tuple[tokenizers.Encoding, int]:
        """Encode one sentence; the special tokens join after the cut, so that it can't take them away."""
        room = max_tokens - self._backend.num_special_tokens_to_add(is_pair=False)
        if room < 1:
            raise InputError(f"max_tokens={max_tokens} leaves no room for the sentence's own tokens")
        with backend_errors(f"the {self.name} tokenizer can't encode {text[:40]!r}"):
            encoding = self._backend.encode(text, add_special_tokens=False)
        cut = max(0, len(encoding.ids) - room)
        encoding.truncate(room)
        return self._backend.post_process(encoding), cut
