"""The Regularisers page's query parameters: what is to be compared, and how strong each regulariser is then."""

from playground.training.regularisers import REGULARISERS
from playground.web.kinds import Choice, Param, Several, Size, Whole
from playground.web.training_params import STRENGTHS, TITLES

FIELDS = {regulariser.title: field for field, regulariser in REGULARISERS.items()}
"""A regulariser's title, which is its word in the link → the recipe's field."""

TO_BEGIN_WITH = (
    "Dropout on attention weights",
    "Padding mask",
    "Weight decay",
    "Label smoothing",
    "Early stopping",
    "Token swapping",
)


def _strength(field: str) -> Param:
    """From its usual strength to all that it may have; none of them is off: that is what choosing it decides."""
    usual, param = REGULARISERS[field].usual, STRENGTHS[field]
    if isinstance(param, Size):
        return Size(usual, tuple(option for option in param.options if option > 0))
    return Whole(usual, 1, param.high if isinstance(param, Whole) else 1)


COMPARED: dict[str, Param] = {
    field: _strength(field) for field, regulariser in REGULARISERS.items() if not regulariser.by_nature
} | {"temperature": STRENGTHS["temperature"]}
"""How strong each regulariser is, by the recipe's field, once it is chosen."""

ABLATION: dict[str, Param] = {
    "regularisers_task": Choice("Reverse", tuple(TITLES)),
    "regularisers_data": Choice("small", ("small", "plenty")),
    "regularisers_chosen": Several(TO_BEGIN_WITH, tuple(FIELDS)),
    "regularisers_measure": Choice("accuracy", ("accuracy", "loss")),
    **{f"regularisers_{field}": param for field, param in COMPARED.items()},
}
