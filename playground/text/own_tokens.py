"""Tokenizers for somebody's own model: words of a given vocabulary, and ids typed as numbers."""

import re
from collections.abc import Mapping

from playground.errors import InputError
from playground.text.batch import EncodedSentence
from playground.text.pieces import visible
from playground.text.tokenizer import Tokenizer
from playground.text.wording import join_words, quote_word

UNKNOWN_NAMES = ("[UNK]", "<unk>", "<UNK>", "[unk]", "<oov>", "<OOV>", "UNK", "unk")
"""What a vocabulary may call the token that stands for every other word; the first that is there counts."""

PAD_NAMES = ("[PAD]", "<pad>", "<PAD>", "[pad]")

_PIECE, _PART = re.compile(r"\S+"), re.compile(r"\w+|[^\w\s]")
_ID = re.compile(r"[^\s,;()\[\]]+")

_NAMED = 5
"""Words that a sentence names at most."""


class VocabularyTokenizer(Tokenizer):
    """Words → the ids that a vocabulary gives them.

    Text is cut at blanks; a piece that is no word of the vocabulary is cut around its punctuation too. A vocabulary in
    which the blank is a token is one of characters: text is cut after each.

    Args:
        ids: each word's id; at least one.
    """

    def __init__(self, ids: Mapping[str, int]) -> None:
        self.name = "vocabulary"
        self.vocab_size = max(ids.values()) + 1
        self.pad_id = next((ids[name] for name in PAD_NAMES if name in ids), 0)
        self.unknown = next((name for name in UNKNOWN_NAMES if name in ids), None)
        self.of_characters = " " in ids
        self.ids = ids
        self._words = {token_id: word for word, token_id in ids.items()}

    def id_to_token(self, token_id: int) -> str:
        """The word with this id, or the id where no word has it; raises IndexError outside the vocabulary."""
        self._check_id(token_id)
        return visible(self._words.get(token_id, str(token_id)))

    def _encode(self, text: str, max_tokens: int) -> EncodedSentence:
        places = self._cut(text)
        kept = places[:max_tokens]
        words = [text[start:end] for start, end in kept]
        strange = [word for word in words if word not in self.ids]
        if strange and self.unknown is None:
            named = [quote_word(word) for word in dict.fromkeys(strange)]
            more = [f"{len(named) - _NAMED} more"] if len(named) > _NAMED else []
            raise InputError(
                f"Your vocabulary lacks {join_words([*named[:_NAMED], *more])}, and it has no [UNK] or <unk> to read "
                "instead: write words that it has."
            )
        known = [word if word in self.ids else str(self.unknown) for word in words]
        return EncodedSentence(
            ids=[self.ids[word] for word in known],
            tokens=[visible(word) for word in known],
            offsets=kept,
            special=[False] * len(kept),
            unknown=[word == self.unknown for word in known],
            truncated=len(places) - len(kept),
        )

    def _cut(self, text: str) -> list[tuple[int, int]]:
        if self.of_characters:
            return [(i, i + 1) for i in range(len(text))]
        places = []
        for piece in _PIECE.finditer(text):
            is_word = piece[0] in self.ids
            places += [piece.span()] if is_word else [part.span() for part in _PART.finditer(text, *piece.span())]
        return places


class IdTokenizer(Tokenizer):
    """Ids that are typed as numbers, between blanks, commas or brackets; a token is its own id.

    Args:
        n_ids: how many ids there are, counted from 0.
    """

    def __init__(self, n_ids: int) -> None:
        self.name = "ids"
        self.vocab_size = n_ids
        self.pad_id = 0

    def id_to_token(self, token_id: int) -> str:
        """The id itself; raises IndexError outside the vocabulary."""
        self._check_id(token_id)
        return str(token_id)

    def _encode(self, text: str, max_tokens: int) -> EncodedSentence:
        pieces = list(_ID.finditer(text))
        for piece in pieces:
            if not re.fullmatch("[0-9]+", piece[0]) or int(piece[0]) >= self.vocab_size:
                raise InputError(
                    f"{quote_word(piece[0])} is no id of your file's token table: write whole numbers from 0 to "
                    f"{self.vocab_size - 1:,}, with blanks between them."
                )
        if not pieces:
            raise InputError(f"{quote_word(text)} holds no id: write whole numbers, such as 0 1 2.")
        kept = pieces[:max_tokens]
        ids = [int(piece[0]) for piece in kept]
        return EncodedSentence(
            ids=ids,
            tokens=[str(token_id) for token_id in ids],
            offsets=[piece.span() for piece in kept],
            special=[False] * len(kept),
            unknown=[False] * len(kept),
            truncated=len(pieces) - len(kept),
        )
