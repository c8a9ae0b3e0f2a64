"""Whose names these are, and what they are called here."""

import re
from collections.abc import Mapping
from typing import TypeVar

from playground.errors import WeightsError
from playground.weights.load import respelled
from playground.weights.schemes import SCHEMES

T = TypeVar("T")

Shape = tuple[int, ...]

_OURS = {
    name: {theirs: ours for ours, names in scheme.names.items() for theirs in names} for name, scheme in SCHEMES.items()
}
"""Their name → ours, `{i}` standing for the layer, for each scheme."""


def _template(name: str) -> tuple[str, int | None]:
    """A foreign name with `{i}` for its layer, and the layer."""
    match = re.search(r"layers?\.([0-9]{1,9})\.", name)
    if match is None:
        return name, None
    return f"{name[: match.start(1)]}{{i}}{name[match.end(1) :]}", int(match[1])


def scheme_of(header: Mapping[str, Shape]) -> str:
    """The scheme that knows the most of the names of tensors, given as name → shape.

    Raises:
        WeightsError: none knows any.
    """

    def n_known(scheme: str) -> int:
        return sum(_template(name)[0] in _OURS[scheme] for name in respelled(header, SCHEMES[scheme]))

    best = max(SCHEMES, key=n_known)
    if n_known(best) == 0:
        first = f", such as {next(iter(header))}," if header else ""
        raise WeightsError(
            f"These names{first} are of no model that is known here: the tutorials' encoders, "
            "torch.nn.TransformerEncoder, BERT, and the playground's own."
        )
    return best


def encoder_half(named: Mapping[str, T]) -> dict[str, T]:
    """Of a model that was trained here, with a head or a decoder, the encoder under its own names; all else as it is.

    No other scheme here has the first name that is looked for.
    """
    if "encoder.embed.tokens.weight" not in named:
        return dict(named)
    return {name.removeprefix("encoder."): one for name, one in named.items() if name.startswith("encoder.")}


def encoder_shapes(header: Mapping[str, Shape], scheme: str) -> tuple[dict[str, Shape], int]:
    """Shapes by our name with `{i}`, of the first layer that has each, and how many layers there are."""
    shapes: dict[str, Shape] = {}
    layers = set()
    half = "encoder." if scheme == "tutorial-e" else ""
    for name, shape in respelled(header, SCHEMES[scheme]).items():
        template, layer = _template(name)
        ours = _OURS[scheme].get(template)
        if ours is not None and ours.startswith(half):
            shapes.setdefault(ours.removeprefix(half), shape)
            layers.add(layer)
    return shapes, len(layers - {None})


def their_name(ours: str, scheme: str) -> str:
    """The scheme's name for an encoder's tensor, in the first layer where there are layers."""
    names = SCHEMES[scheme].names
    return names[f"encoder.{ours}" if scheme == "tutorial-e" else ours][0].format(i=0)
