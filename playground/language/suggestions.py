"""Sentences of the small English that are near to somebody's own."""

from functools import cache

from playground.language.capabilities import CAPABILITIES, FUNCTION_WORDS, Example
from playground.language.text import english_tokenizer

_OF_EACH = 60
"""Held-out sentences of each capability to choose from."""


@cache
def _offered() -> tuple[tuple[Example, frozenset[str]], ...]:
    examples = [example for each in CAPABILITIES.values() for example in each.examples(_OF_EACH)]
    return tuple((example, frozenset(example.words).difference(FUNCTION_WORDS)) for example in examples)


def nearest_sentences(text: str, n: int = 3) -> list[Example]:
    """Return the `n` sentences with different options that share most words with a text."""
    words = frozenset(english_tokenizer().encode_batch([text.lower()]).tokens[0]).difference(FUNCTION_WORDS)
    offered = sorted(_offered(), key=lambda each: -len(each[1] & words) / len(each[1] | words))
    found: dict[tuple[str, ...], Example] = {}
    for example, _ in offered:
        found.setdefault(tuple(sorted(example.options)), example)
        if len(found) == n:
            break
    return list(found.values())
