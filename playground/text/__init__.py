"""From typed text to a padded batch of token ids, with the pieces that a student can read."""

from playground.text.own_tokens import IdTokenizer, VocabularyTokenizer, read_vocabulary
from playground.text.published import describe_wordpiece, published_tokenizer
from playground.text.sentences import Sentences, split_sentences
from playground.text.tokenizer import Batch, Tokenizer, bpe, build_tokenizer, characters, word_level_tokenizer, words

__all__ = [
    "Batch",
    "IdTokenizer",
    "Sentences",
    "Tokenizer",
    "VocabularyTokenizer",
    "bpe",
    "build_tokenizer",
    "characters",
    "describe_wordpiece",
    "published_tokenizer",
    "read_vocabulary",
    "split_sentences",
    "word_level_tokenizer",
    "words",
]
