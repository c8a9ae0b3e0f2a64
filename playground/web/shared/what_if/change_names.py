"""What a change of the computation is called, with the words of the tokens that it is about."""

import re
from collections.abc import Sequence
from functools import partial

from playground.figures.theme import shortened, subscript
from playground.model import change_texts
from playground.model.changes import Change

_LONGEST_TOKEN = 12


def name_change(change: Change, tokens: Sequence[str] = ()) -> str:
    """What it changes in a few words, such as `layer 3, head 1: it₁₀ ↛ animal₂`, with a strength below 1."""
    return change_texts.name_change(change, partial(_name_token, tokens))


def explain_change(change: Change, tokens: Sequence[str]) -> str:
    """One sentence in plain text on which numbers become what, with the tokens' words."""
    return change_texts.explain_change(change, partial(_name_token, tokens))


def explain_changes(changes: Sequence[Change], tokens: Sequence[str]) -> str:
    """One sentence on changes that are made together: one, or one and the same in every layer."""
    told = explain_change(changes[0], tokens)
    return told if len(changes) == 1 else told.replace(f"In layer {changes[0].layer},", "In every layer,", 1)


def name_tokens(sentence: str, tokens: Sequence[str]) -> str:
    """A sentence of the model, which counts tokens, with their words: `it₁₀` for `token 10`."""
    return re.sub(r"\btoken (\d+)\b", lambda found: _name_token(tokens, int(found[1])), sentence)


def _name_token(tokens: Sequence[str], token: int | None) -> str:
    """A token by its word and its place; by its place alone where the sentence has no such token."""
    if token is None or token >= len(tokens):
        return change_texts.count_token(token)
    word = " ".join(shortened(tokens[token], _LONGEST_TOKEN).split()) or "␣"
    return f"{word}{subscript(token)}"
