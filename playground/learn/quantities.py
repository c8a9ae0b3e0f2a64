"""Named numbers of a state, which exercises ask for: `pattern[3,1,it,animal]`, `parameters.share.embeddings`.

To add one: a function here with `@quantity`. A state is what a link shows; a token in brackets is its place, counted
from 0, or the token itself, of which the first stands in the text.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from playground.accounting import count_parameters
from playground.errors import InputError
from playground.link.opening import LinkedView
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.text.wording import quote_word

Place = int | str
"""A number from 0, or a token."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers along one or two axes, each place with a name."""

    values: Array
    """(rows,) or (rows, columns)."""
    rows: tuple[str, ...]
    """Plain texts."""
    columns: tuple[str, ...] = ()
    row_title: str = ""
    column_title: str = ""
    title: str = ""
    """What the numbers are."""

    def __getitem__(self, place: Any) -> float:
        return float(self.values[place])


@dataclass(frozen=True)
class Quantity:
    """One named quantity."""

    name: str
    places: str
    """What stands in its brackets; empty where nothing does."""
    meaning: str
    """In one sentence, with its unit."""
    function: Callable[..., float | str | Numbers]

    def compute(self, view: LinkedView, *places: Place) -> float | str | Numbers:
        """The quantity of a state; raises an `InputError` where it has no such place, and whatever its run raises."""
        try:
            inspect.signature(self.function).bind(view, *places)
        except TypeError as error:
            form = f"{self.name}[{self.places}]" if self.places else self.name
            raise InputError(f"`{self.name}` is written `{form}`.") from error
        return self.function(view, *places)


QUANTITIES: dict[str, Quantity] = {}
"""By name."""


def quantity(
    name: str, meaning: str, places: str = ""
) -> Callable[[Callable[..., float | str | Numbers]], Callable[..., float | str | Numbers]]:
    """Put a function of a state, and of places in it, into the table."""

    def add(function: Callable[..., float | str | Numbers]) -> Callable[..., float | str | Numbers]:
        QUANTITIES[name] = Quantity(name, places, meaning, function)
        return function

    return add


def _layer(view: LinkedView, layer: Place) -> int:
    return _number(layer, view.config.n_layers, "layer")


def _head(view: LinkedView, head: Place) -> int:
    return _number(head, view.config.n_heads, "head")


def _number(place: Place, n: int, what: str) -> int:
    if not isinstance(place, int) or not -n <= place < n:
        raise InputError(f"There is no {what} {place}: the {what}s are 0 to {n - 1}.")
    return place % n


def _token(run: Run, place: Place) -> int:
    if isinstance(place, int):
        return _number(place, len(run.tokens), "token")
    words = [token.lower() for token in run.tokens]
    if place.lower() not in words:
        raise InputError(f"The token {quote_word(place)} is not in the text.")
    return words.index(place.lower())


@quantity(
    "pattern",
    "The weight, from 0 to 1, that a head gives from a query's token to a key's; without a key the query's row, "
    "without a query the head's whole map.",
    "layer, head, query, key",
)
def _pattern(
    view: LinkedView, layer: Place, head: Place, query: Place | None = None, key: Place | None = None
) -> float | Numbers:
    run = view.run
    weights = run.pattern(_layer(view, layer))[_head(view, head)]
    title = f"weights of layer {layer}, head {head}"
    if query is None:
        return Numbers(weights, run.tokens, run.tokens, "looks", "at", title)
    row = weights[_token(run, query)]
    return Numbers(row, run.tokens, (), "key", "", title) if key is None else float(row[_token(run, key)])


@quantity("config", "A size or choice of the architecture, by its name such as d_model.", "name")
def _config(view: LinkedView, name: Place) -> float | str:
    value = vars(view.config).get(str(name))
    if value is None:
        raise InputError(f"The architecture has no {quote_word(str(name))}.")
    return value if isinstance(value, str) else float(value)


@quantity("parameters.total", "How many numbers the model learns.")
def _parameters(view: LinkedView) -> float:
    return count_parameters(view.config).total


@quantity("parameters.of", "How many of them a component has: embeddings, attention, feed_forward, norms.", "component")
def _parameters_of(view: LinkedView, component: Place) -> float:
    counts: Mapping[Any, int] = count_parameters(view.config).by(lambda term: term.component)
    if component not in counts:
        raise InputError(f"There is no component {quote_word(str(component))}: those are {', '.join(counts)}.")
    return counts[component]
