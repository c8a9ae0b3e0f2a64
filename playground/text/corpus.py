"""English text that every machine with CPython has: the language reference behind Python's `help()`."""

from pydoc_data.topics import topics


def english_texts() -> list[str]:
    """Return the help topics, about 450,000 characters in all, in a fixed order.

    The text changes a little from one minor version of Python to the next, and what is learnt from it too.
    """
    return [topics[name] for name in sorted(topics)]
