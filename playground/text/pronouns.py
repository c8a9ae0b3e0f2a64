"""Pronouns: words that stand for others, so that it is worth a look whom they attend to."""

from collections.abc import Sequence

PRONOUNS = frozenset({
    "he", "she", "it", "they", "him", "her", "them", "his", "its", "their", "who", "which",
})  # fmt: skip
"""Words that stand for another word, whose attention is worth a look; without *that*, mostly a conjunction."""


def choose_pronoun(tokens: Sequence[str]) -> int | None:
    """The position of the first pronoun, if there is one."""
    return next((i for i, token in enumerate(tokens) if token.lower() in PRONOUNS), None)
