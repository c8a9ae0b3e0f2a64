"""The four tokenizers: the trained model's own, words, characters, and byte-level BPE."""

from collections.abc import Iterable, Sequence
from functools import lru_cache

import tokenizers
from tokenizers import Regex, models, pre_tokenizers, trainers

from playground.errors import InputError
from playground.text.corpus import english_texts
from playground.text.pieces import visible_bytes
from playground.text.sentences import replace_surrogates
from playground.text.tokenizer import PAD, UNKNOWN, LibraryTokenizer, Tokenizer, backend_errors

MIN_BPE_VOCABULARY = 300
"""[PAD], the 256 bytes, and some merges to look at."""

MAX_BPE_VOCABULARY = 8_000
"""The corpus runs out of pairs to merge a little above 9,000."""


def wordpiece(content: bytes) -> Tokenizer:
    """A trained WordPiece tokenizer (Wu et al. 2016, section 4.1) of what its `tokenizer.json` holds.

    Raises:
        InputError: it is not a tokenizer's.
    """
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"no tokenizer can be read from it: {error}") from error
    with backend_errors("no tokenizer can be read from it"):
        backend = tokenizers.Tokenizer.from_str(text)
    return LibraryTokenizer("wordpiece", backend)


def words(sentences: Sequence[str]) -> Tokenizer:
    """Make a vocabulary of the sentences' own words and punctuation marks, in order of first appearance.

    There are no special tokens: five different words are five ids. Encoding any other word raises InputError.
    """
    texts = map(replace_surrogates, sentences)
    splitter = pre_tokenizers.BertPreTokenizer()
    different = dict.fromkeys(word for text in texts for word, _ in splitter.pre_tokenize_str(text))
    return _tokenizer_of_words("word", different, splitter)


@lru_cache(maxsize=1)
def characters() -> Tokenizer:
    """One token a character: [PAD], [UNK], then printable ASCII; any other character is [UNK]."""
    printable = map(chr, range(ord(" "), ord("~") + 1))
    return _tokenizer_of_words("char", [PAD, UNKNOWN, *printable], pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated"))


def build_tokenizer(name: str, vocab_size: int, sentences: Sequence[str]) -> Tokenizer:
    """The tokenizer `word` of these sentences, `bpe` with `vocab_size` tokens, or `char`; raises as `bpe`."""
    if name == "word":
        return words(sentences)
    return bpe(vocab_size) if name == "bpe" else characters()


def word_level_tokenizer(vocabulary: Sequence[str], *, blanks_between: bool) -> Tokenizer:
    """The tokenizer of a network that is trained in the session: ids in the order of a vocabulary, which holds [UNK].

    With `blanks_between`, tokens stand between blanks; else every character is one, and so is a whole "[MASK]".
    """
    apart = pre_tokenizers.Split(Regex(r"\[MASK\]|[\s\S]"), "isolated")
    return _tokenizer_of_words("trained", vocabulary, pre_tokenizers.WhitespaceSplit() if blanks_between else apart)


def _tokenizer_of_words(name: str, vocabulary: Iterable[str], splitter: pre_tokenizers.PreTokenizer) -> Tokenizer:
    ids = {token: index for index, token in enumerate(vocabulary)}
    backend = tokenizers.Tokenizer(models.WordLevel(ids, UNKNOWN))
    backend.pre_tokenizer = splitter
    return LibraryTokenizer(name, backend)


@lru_cache(maxsize=8)
def bpe(vocab_size: int) -> Tokenizer:
    """Train byte-level byte-pair encoding on Python's help topics, in about 0.2 s; no text is unknown to it.

    Sources: Sennrich et al. 2016, section 3.2 (merges); Radford et al. 2019, section 2.2 (bytes).

    Raises:
        InputError: `vocab_size` lies outside 300 to 8,000.
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
