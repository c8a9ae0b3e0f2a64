"""What a link meant before a parameter was added, renamed or shared, or before a seed meant other weights."""

from collections.abc import Collection, Mapping
from typing import Any

from playground.pages import page_at

OTHER_WEIGHTS = "1"
"""The version of links in which one generator drew all random weights in turn, instead of one each tensor."""

_OWN_TEXT_KEYS = ("encdec_target", "encdec_attention", "encdec_layer", "encdec_head", "encdec_position")
"""The Decoder page's parameters before it had a trained example."""

_TARGET_BEFORE = "Het dier was te moe.\nDaarom stak het de straat niet over."
"""The default of `encdec_target` then."""

_FOCUS_BEFORE: dict[str, dict[str, tuple[str, int]]] = {
    "attention": {"attention_layer": ("layer", 3), "attention_head": ("head", 1), "attention_query": ("query", 10)},
    "norms": {"norms_token": ("query", 0)},
    "step-by-step": {
        "step_layer": ("layer", 0),
        "step_head": ("head", 0),
        "step_query": ("query", 10),
        "step_key": ("key", 2),
    },
}
"""Before pages shared their focus: each page's own keys for it, with their names by now and their defaults then."""

FOCUS_KEYS = frozenset(key for names in _FOCUS_BEFORE.values() for key in names)
"""Keys that no link has any more."""

_VERSIONS_BEFORE_FOCUS = ("0", "1")


def missing_values(linked: Collection[str]) -> dict[str, Any]:
    """What a link with these keys leaves out and meant by it, where that is no longer the default."""
    if "encdec_source" in linked or not any(key in linked for key in _OWN_TEXT_KEYS):
        return {}
    target = {} if "encdec_target" in linked else {"encdec_target": _TARGET_BEFORE}
    return {"encdec_source": "your text", **target}


def rename_focus(texts: Mapping[str, list[str]], page: str) -> dict[str, list[str]]:
    """A link's texts with the focus under its names by now, and with what a link to this page left out and meant by it.

    Where several pages' old keys contradict each other, those of the open page count; a present name counts most.
    """
    renamed: dict[str, list[str]] = {}
    for path in sorted(_FOCUS_BEFORE, key=lambda path: path != page):
        names = _FOCUS_BEFORE[path]
        is_old = any(key in texts for key in names) or texts.get("v", [""])[-1] in _VERSIONS_BEFORE_FOCUS
        for key, (name, default) in names.items():
            if key in texts:
                renamed.setdefault(name, texts[key])
            elif path == page and is_old:
                renamed.setdefault(name, [str(default)])
    return renamed | {key: value for key, value in texts.items() if key not in FOCUS_KEYS}


def describe_other_weights(page: str, *, seed: int, is_random: bool, has_random_decoder: bool) -> str | None:
    """A sentence for what a link of version `OTHER_WEIGHTS` opens; None where no random weights are shown.

    Args:
        page: the page that is open.
        seed: what random weights are drawn from.
        is_random: whether the chosen weights are.
        has_random_decoder: whether the Decoder page shows both halves at random, as it does for most own texts.
    """
    if not (has_random_decoder if page == "encoder-decoder" else is_random or page_at(page).own_networks):
        return None
    return (
        "Since this link was made, the playground has changed how it draws random weights: "
        f"seed {seed} gives other ones now."
    )
