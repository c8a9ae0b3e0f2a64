"""What visitors read: whole sentences with named numbers, in Fluent files, one for each page and language."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from fluent.runtime import FluentBundle, FluentResource

from playground.text.wording import write_number, write_share, write_weight

FOLDER = Path(__file__).parent

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "WEIGHT": lambda weight: write_weight(float(weight)),
    "SHARE": lambda share: write_share(float(share)),
    "PERCENT": lambda share: f"{float(share):.1%}",
    "NUM": lambda number, digits=3: write_number(float(number), int(digits)),
}
"""What a message may call: `{ WEIGHT($w) }` is 0.68, `{ SHARE($moved) }` 6.6%, `{ NUM($length, digits: 4) }` 12.35."""


@cache
def bundle(page: str, language: str = "en") -> FluentBundle:
    """Return a page's messages; raises FileNotFoundError if it has none."""
    found = FluentBundle([language], functions=FUNCTIONS, use_isolating=False)
    found.add_resource(FluentResource((FOLDER / language / f"{page}.ftl").read_text(encoding="utf-8")))
    return found


def say(page: str, key: str, /, **values: Any) -> str:
    """Return a page's message with these numbers and words.

    Args:
        page: name of its file.
        key: the message's; behind a dot an attribute of it.
        values: by the names that the message has; tokens are markdown already.

    Raises:
        KeyError: there is no such message, or it names a value that is not given.
    """
    messages, (name, _, attribute) = bundle(page), key.partition(".")
    message = messages.get_message(name)
    pattern = message.attributes[attribute] if attribute else message.value
    if pattern is None:
        raise KeyError(f"{page}.{key} has no text of its own")
    for name, value in values.items():
        if isinstance(value, np.generic):
            values[name] = value.item()
    text, errors = messages.format_pattern(pattern, values)
    if errors:
        raise KeyError(f"{page}.{key}: {errors[0]}")
    return str(text)
