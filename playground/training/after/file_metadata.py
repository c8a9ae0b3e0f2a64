"""What stands beside the weights in a file: recipe, architecture and results, which a stranger may have written."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any, Literal

from playground.config import ModelConfig, check_fields
from playground.errors import ConfigError, WeightsError
from playground.text.wording import quote_text
from playground.training.recipe import Recipe

FORMAT = "playground-trained-2"
"""Which parts there are, and what they mean."""

OTHER_WEIGHTS = "playground-trained-1"
"""The format of files whose networks began with other weights than their seed gives today; the parts are the same."""

ADDED_LATER = {"recipe": ("noise", "shuffling"), "config": ("initialisation",)}
"""By part: fields that files had not at first; a file without one was made at its default."""

RunOutcome = Literal["finished", "stopped early", "diverged", "cancelled"]
Steps = Annotated[int, (0, 10**9)]
Share = Annotated[float, (0, 1)]
Loss = Annotated[float, (0, 10**12)]


@dataclass(frozen=True)
class Results:
    """How a run went, in small numbers."""

    outcome: RunOutcome
    steps: Steps
    """Optimisation steps done."""
    kept_step: Steps
    """The step after which the network had the weights that were kept, which are those measured."""
    baseline: Share
    """Share of validation targets that the task's simple rule gets right."""
    validation_loss: Loss
    """In nats."""
    validation_accuracy: Share
    """Share of validation targets that the network gets right."""

    def __post_init__(self) -> None:
        check_fields(self, ConfigError)


def write(recipe: Recipe, config: ModelConfig, results: Results, *, has_initial: bool = True) -> dict[str, str]:
    """The metadata of a file; `has_initial` as of `TrainedNetwork`."""
    parts = {"recipe": asdict(recipe), "config": asdict(config), "results": asdict(results)}
    written = FORMAT if has_initial else OTHER_WEIGHTS
    return {"format": written, **{name: json.dumps(part, sort_keys=True) for name, part in parts.items()}}


def read(metadata: Mapping[str, str]) -> tuple[Recipe, ModelConfig, Results]:
    """The metadata of a file, believed as far as each part alone can be checked.

    Raises:
        WeightsError: says in one sentence what is missing or makes no sense.
    """
    if "format" not in metadata:
        raise WeightsError(
            "This file was not saved by the Training page: it has weights but no recipe. Choose the weights `mine` in "
            "the sidebar to open it."
        )
    if metadata["format"] not in (FORMAT, OTHER_WEIGHTS):
        raise WeightsError(
            f"This file says that it is {quote_text(metadata['format'])}; "
            f"this version of the playground reads {FORMAT}."
        )
    return (
        _read_part(metadata, "recipe", Recipe),
        _read_part(metadata, "config", ModelConfig),
        _read_part(metadata, "results", Results),
    )


def _read_part(metadata: Mapping[str, str], name: str, kind: Any) -> Any:
    """One part: exactly its fields, but for those added later; none of them larger or deeper than a setting can be."""
    try:
        values = json.loads(metadata[name])
        json.dumps(values, ensure_ascii=False).encode()
    except KeyError:
        raise WeightsError(f"The file's description has no {name}: the file is damaged.") from None
    except UnicodeEncodeError as error:  # JSON can name half of a surrogate pair, which no text may hold
        raise WeightsError(f"The file's {name} holds half a character: the file is damaged.") from error
    except (ValueError, RecursionError) as error:  # not JSONDecodeError alone: `int` refuses a number of 4,301 digits
        raise WeightsError(f"The file's {name} is not valid JSON: the file is damaged.") from error
    if not isinstance(values, dict):
        raise WeightsError(f"The file's {name} is not a list of settings: the file is damaged.")
    known = [field.name for field in fields(kind)]
    for key, value in values.items():
        if key not in known:
            raise WeightsError(f"The file's {name} has a setting {quote_text(key)}, which is not known here.")
        if not _is_setting(key, value):
            shown = quote_text(str(value)[:100])
            raise WeightsError(f"The file's {name} says {key}={shown}, which is no setting.")
    needed = (key for key in known if key not in ADDED_LATER.get(name, ()))
    missing = next((key for key in needed if key not in values), None)
    if missing is not None:
        raise WeightsError(f"The file's {name} does not say {missing}.")
    try:
        return kind(**values)
    except ConfigError as error:
        part = {"config": "architecture", "results": "list of results"}.get(name, name)
        raise WeightsError(f"The file's {part} makes no sense: {error}") from error


def _is_setting(key: str, value: Any) -> bool:
    """Whether a value could be one, so that an error may quote it."""
    if isinstance(value, str):
        return key == "text" or re.fullmatch(r"[\w -]{1,40}", value) is not None
    return isinstance(value, int | float) and abs(value) < 10**12
