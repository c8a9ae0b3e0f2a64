"""A view's parameters as the query string of a link."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from playground.link.link_values import VERSION
from playground.link.params import write_changed
from playground.link.pinned_texts import pinned_texts


def write_query(values: Mapping[str, Any], pinned: Mapping[str, Any] | None = None) -> str:
    """The query string, without its question mark, of these values by the keys of `params.PARAMS`.

    What stands at its frozen default is left out; the version of the format goes with it.

    Args:
        values: of all the sidebar's parameters at least, where something is pinned.
        pinned: of all the sidebar's parameters.
    """
    texts = write_changed(values) | ({} if pinned is None else pinned_texts(pinned, values)) | {"v": [VERSION]}
    return urlencode(texts, doseq=True)
