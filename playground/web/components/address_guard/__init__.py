"""A guard without a picture: it writes parameters into the address bar where that says something else."""

from collections.abc import Mapping

from playground.web.components.load_component import load_component
from playground.web.components.moment import moment

_guard = load_component("address_guard")


def write_address(key: str, parameters: Mapping[str, list[str]]) -> None:
    """Put these texts of parameters into the address bar; an empty list takes its parameter out.

    The browser acts on each call once, changed texts or not, and on none after a later one: calls carry their time.
    """
    _guard(key=key, data={"parameters": dict(parameters), "moment": moment()})
