"""What can be wrong with a request: each message is one sentence that says what would work."""

from collections.abc import Iterable
from difflib import get_close_matches


class PlaygroundError(Exception):
    """A request that can't be met; the message is for people."""


class ConfigError(PlaygroundError, ValueError):
    """An architecture that cannot be built: the `field`, its `value`, and what `works`, nearest first."""

    def __init__(self, field: str, value: object, reason: str, works: tuple[object, ...]) -> None:
        self.field, self.value, self.works = field, value, works
        nearest = " or ".join(str(choice) for choice in works)
        too_long = isinstance(value, int) and abs(value) > 10**400
        super().__init__(f"{field}={'a huge number' if too_long else repr(value)} {reason}; {nearest} would work.")


class RecipeError(ConfigError):
    """A training run that cannot be."""


class InputError(PlaygroundError, ValueError):
    """A text, tensor or number that does not fit."""


class UnknownNameError(PlaygroundError, KeyError):
    """An unknown name; the message lists the nearest."""

    __str__ = Exception.__str__  # a KeyError shows its message in quotation marks


class InterventionError(PlaygroundError, ValueError):
    """A change of the computation that cannot be made."""


class WeightsError(PlaygroundError, ValueError):
    """Weights that do not fit, or a file that can't be trusted."""


class PretrainedError(PlaygroundError):
    """A checkpoint that is missing or can't be trusted."""


class TooLargeError(PlaygroundError, ValueError):
    """More than this server computes."""


class UnavailableError(PlaygroundError, LookupError):
    """Weights that this session does not hold."""


class BusyError(PlaygroundError, RuntimeError):
    """Every turn to compute is taken."""


class ClusterError(PlaygroundError, RuntimeError):
    """A run on other machines that failed."""


def list_nearest(name: object, names: Iterable[str], where: str = "") -> str:
    """Return the end of a sentence on an unknown name: the nearest in any case, or all, or some of many and `where`."""
    every = {each.lower(): each for each in names}
    nearest, known = get_close_matches(str(name)[:100].lower(), every), list(every.values())
    if nearest:
        return f"the nearest {'is' if len(nearest) == 1 else 'are'} {', '.join(every[each] for each in nearest)}"
    if len(known) > 20:
        return f"there are {len(known)}, such as {known[0]}, {known[len(known) // 2]}, {known[-1]}{where}"
    return f"there are {', '.join(known) or 'none'}"


UNEXPECTED = "Something went wrong while this was computed; what is behind it is in the server's log."
OUT_OF_MEMORY = "The server has too little memory for this; a smaller model or batch needs less."

_TORCH_OUT_OF_MEMORY = ("can't allocate memory", "out of memory")


def explain(error: BaseException) -> str:
    """Return the sentence for visitors on an exception."""
    if isinstance(error, PlaygroundError):
        return str(error)
    return OUT_OF_MEMORY if is_out_of_memory(error) else UNEXPECTED


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory was short, as Python, numpy or torch say it."""
    of_torch = isinstance(error, RuntimeError) and any(words in str(error) for words in _TORCH_OUT_OF_MEMORY)
    return of_torch or isinstance(error, MemoryError)
