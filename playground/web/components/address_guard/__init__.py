"""A guard without a picture: it writes parameters into the address bar where that says something else."""

from collections.abc import Mapping

from playground.web.components.load_component import load_component

_guard = load_component("address_guard")


def write_address(key: str, parameters: Mapping[str, list[str]], run: int) -> None:
    """Put these texts of parameters into the address bar; an empty list takes its parameter out.

    `run` differs from run to run: with it the browser acts on each, changed texts or not.
    """
    _guard(key=key, data={"parameters": dict(parameters), "run": run})
