"""What the sidebar's values mean for a run: the tokenizer, where sentences are cut, and the token table's rows."""

from collections.abc import Mapping
from typing import Any

from playground.limits import MAX_TOKENS


def choose_tokenizer(values: Mapping[str, Any]) -> tuple[str, int]:
    """The tokenizer, `wordpiece`, `word`, `char` or `bpe`, and the tokens that `bpe` is trained to, 0 for the others.

    Vectors stand for the text's own words.
    """
    name = "word" if values["tokenizer"] == "vectors" else str(values["tokenizer"])
    return name, values["vocab_size"] if values["tokenizer"] == "bpe" else 0


def longest_sentence(values: Mapping[str, Any]) -> int:
    """Tokens after which a sentence is cut; without a position table, none ends before the limit of all texts."""
    return MAX_TOKENS if values["positions"] == "none" else min(int(values["max_len"]), MAX_TOKENS)


def explain_cut(values: Mapping[str, Any]) -> str:
    """Why a long sentence is cut there: the model's own `max_len`, or this server's limit."""
    if values["positions"] == "none":
        return f"This server reads no more than {MAX_TOKENS:,} tokens of a sentence."
    if int(values["max_len"]) <= MAX_TOKENS:
        return f"The model reads no more: its `max_len` is {values['max_len']:,}."
    return (
        f"This server reads no more than {MAX_TOKENS:,} tokens of a sentence, though the model's `max_len` is "
        f"{values['max_len']:,}."
    )


def chosen_sentence(values: Mapping[str, Any], n_sentences: int) -> int:
    """The sentence to look at, from 0, in a text of so many."""
    return min(int(values["sentence"]), n_sentences) - 1


def drawn_rows(values: Mapping[str, Any], n_tokens: int, *, is_random: bool) -> int:
    """Rows of a token table for a tokenizer of `n_tokens`; with random weights at least those that were asked for."""
    return max(n_tokens, values["table_rows"] if is_random else 0)
