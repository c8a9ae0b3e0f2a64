"""Named numbers that lessons ask for beside those of exercises: what is set, what was learnt here."""

from statistics import fmean

from playground.errors import InputError
from playground.language.family import shares_of
from playground.learn.quantities import QUANTITIES, Place
from playground.link import english
from playground.link.opening import LinkedView
from playground.link.params import write
from playground.text.wording import join_words, quote_word
from playground.training.trained_network import TrainedNetwork


def _setting(view: LinkedView, key: Place) -> float | str:
    if key not in view.values:
        raise InputError(f"There is no parameter {quote_word(str(key))}.")
    value = view.values[str(key)]
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else write(value)


def _learnt(view: LinkedView, capability: Place) -> float:
    shares = shares_of(english.spec_of(view.values))
    if capability not in shares:
        raise InputError(f"Nobody has measured {quote_word(str(capability))} for this encoder.")
    return fmean(shares[str(capability)])


def _network(view: LinkedView, name: Place) -> float | str:
    trained: TrainedNetwork | None = getattr(view, "trained", None)
    if trained is None:
        raise InputError("No network has been trained in this session.")
    if name == "now":
        return float(view.share_right)  # type: ignore[attr-defined]
    results = trained.results
    found: dict[Place, float | str] = {
        "task": trained.task.name,
        "steps": results.kept_step,
        "right": results.validation_accuracy,
        "baseline": results.baseline,
    }
    if name not in found:
        raise InputError(
            f"There is no {quote_word(str(name))} of a network: those are {join_words(list(map(str, found)))}."
        )
    return found[name]


QUANTITIES |= {"setting": _setting, "learnt": _learnt, "network": _network}
