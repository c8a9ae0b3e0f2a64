"""Run by itself, as a process: build the tokenizer that standard input describes and encode a text, within limits.

It imports nothing of the package, so that it starts at once.
"""

import sys

SECONDS = 20
"""Of waiting, and of processor time."""

_BYTES = 3 * 2**30
_TEXT = "The animal didn't cross the street, because it was too tired. Ça va? ﷺ 猫 🙂\n" * 25  # 2,000 characters


def limit() -> None:
    """Limit this process's memory and processor time, where the system can."""
    try:
        import resource
    except ImportError:  # not Unix
        return
    resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main() -> None:
    """Raise whatever the library raises."""
    limit()
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_str(sys.stdin.buffer.read().decode())
    tokenizer.encode(_TEXT)


if __name__ == "__main__":
    main()
