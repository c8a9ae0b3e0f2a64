"""The pinned settings in a link: `b_` and a parameter's key, where they differ from the present ones.

`pinned=true` stands for them where they don't differ at all.
"""

from collections.abc import Mapping
from typing import Any

from playground.link import link_values
from playground.link.kinds import Notation, Switch, Text
from playground.link.params import SHARED, write_all

MARKER = "pinned"
"""The link's parameter that settings are pinned; not needed beside any other of theirs."""

PREFIX = "b_"

PINNED_KEYS = {f"{PREFIX}{key}": key for key in SHARED}
"""The link's parameters for pinned values → the sidebar's."""


def read_pinned(
    texts: Mapping[str, list[str]], now: Mapping[str, Any]
) -> tuple[dict[str, Any] | None, set[str], list[str]]:
    """What a link's texts pin, if anything; which of the sidebar's keys they set; and sentences on what is wrong."""
    linked = {name: key for name, key in PINNED_KEYS.items() if name in texts}
    readings = {key: link_values.read_param(SHARED[key], name, texts[name]) for name, key in linked.items()}
    is_marked, complaint = False, None
    if MARKER in texts:
        is_marked, complaint = link_values.read_param(Switch(False), MARKER, texts[MARKER])
    sentences = [complaint] if complaint else []
    for key, (_, complaint) in readings.items():
        if complaint:  # one on a text, or on changes, does not name its key
            sentences.append(of_pinned(complaint) if isinstance(SHARED[key], Text | Notation) else complaint)
    values = {**now, **{key: value for key, (value, _) in readings.items()}} if linked or is_marked else None
    return values, set(readings), sentences


def of_pinned(sentence: str) -> str:
    """A sentence on the pinned settings, which says that it is on them."""
    return f"In the pinned settings: {sentence}"


def pinned_texts(pinned: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, list[str]]:
    """The link's texts for pinned values beside the present ones."""
    different = {name: write_all(pinned[key]) for name, key in PINNED_KEYS.items() if pinned[key] != now[key]}
    return different or {MARKER: ["true"]}
