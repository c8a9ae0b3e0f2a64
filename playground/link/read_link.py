"""A link's texts as values of its parameters."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from playground.link import link_values, old_links, params


class LinkReading(NamedTuple):
    """What a link says of the parameters that have no widget yet."""

    values: Mapping[str, Any]
    sentences: list[str]
    """What is wrong with the link."""
    is_exact: bool
    """Whether the link says just these values, as this version writes them."""
    means_other_weights: bool = False
    """Whether a seed meant other random weights when the link was made."""


def version_of(texts: Mapping[str, list[str]]) -> str:
    """The version of the format that a link was written in: the present one where the link names none."""
    return texts.get("v", [link_values.VERSION])[-1]


def is_known_version(version: str) -> bool:
    """Whether this version of the playground knows what such a link means."""
    return version in (link_values.VERSION, old_links.OTHER_WEIGHTS)


def read_link(texts: Mapping[str, list[str]], with_widgets: Collection[str] = ()) -> LinkReading:
    """Read the link's parameters, without those that have a widget, which the visitor may have moved since."""
    linked = {key: texts[key] for key in texts if key in params.PARAMS and key not in with_widgets}
    readings = {key: link_values.read(key, linked[key]) for key in linked}
    before = {} if "encdec_source" in with_widgets else old_links.missing_values(linked)
    values = {key: value for key, (value, _) in readings.items()} | before
    # A layer that no model has is one that this model has not: the focus line tells of the last that there is.
    too_high = {key for key in params.FOCUS if values.get(key) == params.FOCUS[key].high}
    sentences = [complaint for key, (_, complaint) in readings.items() if complaint and key not in too_high]
    version = version_of(texts)
    if not is_known_version(version):
        sentences.append("This link was made by another version of the playground; some of it may look different.")
    as_written = not before and all(params.write_all(values[key]) == linked[key] for key in linked)
    is_exact = as_written and version == link_values.VERSION
    return LinkReading(values, sentences, is_exact, means_other_weights=version == old_links.OTHER_WEIGHTS)
