"""The family: trained encoders that come with the package, the ladder, and what each can do.

`python -m playground.language.family` trains what is missing and writes the table.
"""

import hashlib
import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from playground.config import ModelConfig
from playground.errors import ConfigError, WeightsError
from playground.language.capabilities import CAPABILITIES
from playground.language.learner import Learning, learn
from playground.language.network import BASE, EnglishNetwork, Spec, check_spec, load, save
from playground.language.text import LONGEST
from playground.weights.store import NetworkStore

logger = logging.getLogger(__name__)

FOLDER = Path(__file__).parent
TABLE = FOLDER / "table.json"

STOPS: dict[str, tuple[Any, ...]] = {
    "n_layers": (1, 2, 3, 4, 6, 12),
    "n_heads": (1, 2, 4, 8),
    "d_model": (8, 16, 32, 64),
    "positions": ("none", "sinusoidal", "learned", "rotary", "alibi", "relative"),
    "norm_placement": ("pre", "post", "both"),
    "norm": ("layer", "rms", "none"),
    "residual": (True, False),
    "causal": (False, True),
    "tied": ("separate", "shared", "merged"),
    "position_join": ("add", "concatenate"),
}
"""The settings, and their values here."""

SEEDS = (0, 1, 2)
"""Of base and single changes; the first is shipped."""


def implied(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that follow from these: d_ff, a narrow stream's fewer heads, pre-norm's final norm, sines to join."""
    width = settings.get("d_model", BASE.d_model)
    width = width if isinstance(width, int) else BASE.d_model  # the config will refuse it
    placement, norm = (settings.get(name, getattr(BASE, name)) for name in ("norm_placement", "norm"))
    follows: dict[str, Any] = {
        "d_ff": 2 * width,
        "n_heads": max(1, min(BASE.n_heads, width // 2)),
        "final_norm": placement != "post" and norm != "none",
    }
    if settings.get("position_join") == "concatenate":
        follows["positions"] = "sinusoidal"
    return {name: value for name, value in follows.items() if name not in settings}


def change(*, causal: bool = False, seed: int = 0, **settings: Any) -> Spec:
    """The base with some settings changed; ConfigError for an unknown one."""
    names = [*(field.name for field in fields(ModelConfig)), "causal", "seed"]
    for name, value in settings.items():
        if name not in names:
            raise ConfigError(name, value, "is not a setting", tuple(get_close_matches(name, names) or names))
    return Spec(replace(BASE, **settings, **implied(settings)), causal, seed)


def single_changes() -> Iterator[tuple[str, Any]]:
    """Every setting with every other value."""
    for name, values in STOPS.items():
        for value in values:
            if value != (False if name == "causal" else getattr(BASE, name)):
                yield name, value


def compared_specs() -> list[Spec]:
    """The base, and every single change from it."""
    return [Spec(), *(change(**{name: value}) for name, value in single_changes())]


@cache
def shipped_specs() -> tuple[Spec, ...]:
    """The base, single changes, layers × heads, layers × positions, depth × norm placement."""
    few = [n for n in STOPS["n_layers"] if n <= 4]
    specs = compared_specs()
    specs += [change(n_layers=n, n_heads=heads) for n in few for heads in STOPS["n_heads"]]
    specs += [change(n_layers=n, positions=positions) for n in few for positions in STOPS["positions"]]
    specs += [change(n_layers=n, norm_placement=place) for n in (2, 6, 12) for place in STOPS["norm_placement"]]
    return tuple(dict.fromkeys(specs))


def measured_specs() -> tuple[Spec, ...]:
    """What is shipped, other seeds, the ladder."""
    more_seeds = (replace(spec, seed=seed) for seed in SEEDS[1:] for spec in compared_specs())
    ladder = (replace(spec, seed=seed) for seed in SEEDS for spec in ladder_specs().values())
    return (*shipped_specs(), *more_seeds, *ladder)


START = "2017"


def ladder_specs() -> dict[str, Spec]:
    """Return the small English's base with the settings of 2017, and by name each rung, which keeps earlier changes."""
    config = replace(BASE, positions="sinusoidal", norm_placement="post", final_norm=False, activation="relu")
    rungs: dict[str, dict[str, Any]] = {
        START: {},
        "GELU": {"activation": "gelu"},
        "learned positions": {"positions": "learned"},
        "RMS norm": {"norm": "rms"},
        "pre-norm": {"norm_placement": "pre", "final_norm": True},
        "gated feed-forward": {"gated": True, "d_ff": 32 * round(config.d_ff * 2 / 3 / 32)},
        "local windows": {"window": LONGEST // 4, "global_every": 2},
        "norm on queries and keys": {"qk_norm": True},
        "rotary positions": {"positions": "rotary"},
        "no biases": {"bias": False},
        "grouped queries": {"n_kv_heads": config.n_heads // 2},
    }
    return {name: Spec(config := replace(config, **fields)) for name, fields in rungs.items()}


class Row(NamedTuple):
    """The share right of one network by capability."""

    shares: Mapping[str, float]
    sha256: str
    """Of the shipped file; empty without one."""


@cache
def table() -> Mapping[str, Row]:
    """The measured networks, by spec key."""
    if not TABLE.is_file():  # it is about to be written
        return {}
    return {key: Row(**row) for key, row in json.loads(TABLE.read_text(encoding="utf-8")).items()}


def seeds_of(spec: Spec) -> list[Row]:
    """The rows of a spec, one a seed."""
    rows = (table().get(replace(spec, seed=seed).key) for seed in SEEDS)
    return [row for row in rows if row is not None]


def shares_of(spec: Spec) -> dict[str, list[float]]:
    """The shares right by capability, one number a seed."""
    rows = seeds_of(spec)
    return {name: [row.shares[name] for row in rows] for name in CAPABILITIES} if rows else {}


def is_shipped(spec: Spec) -> bool:
    """Whether the network comes with the package."""
    row = table().get(spec.key)
    return row is not None and bool(row.sha256)


def path_of(spec: Spec) -> Path:
    """Where a spec's file is, or would be."""
    return FOLDER / f"{spec.key}.safetensors"


def load_shipped(spec: Spec) -> EnglishNetwork:
    """Return a shipped network; WeightsError if it is missing or damaged."""
    row = table().get(spec.key)
    if row is None or not row.sha256:
        raise WeightsError("This network of the small English does not come with the package.")
    try:
        content = path_of(spec).read_bytes()
    except OSError as error:
        raise WeightsError(f"{path_of(spec)} can't be read: {error.strerror}.") from error
    digest = hashlib.sha256(content).hexdigest()
    if digest != row.sha256:
        raise WeightsError(f"{path_of(spec)} is not the file that was shipped: its SHA-256 begins {digest[:12]}.")
    return load(content, spec)


def nearest_shipped(config: ModelConfig, *, causal: bool) -> Spec:
    """The shipped spec with the fewest, then smallest differences."""

    def distance(spec: Spec) -> tuple[int, float]:
        pairs = [(name, getattr(spec.config, name), getattr(config, name)) for name in STOPS if name != "causal"]
        steps = [abs(STOPS[name].index(one) - _stop(name, other)) for name, one, other in pairs if one != other]
        return len(steps) + (spec.causal != causal), sum(steps)

    return min(shipped_specs(), key=distance)


def _stop(name: str, value: Any) -> float:
    stops = STOPS[name]
    if value in stops:
        return stops.index(value)
    return sum(stop < value for stop in stops) if isinstance(value, int) else len(stops)


def find_network(spec: Spec, store: NetworkStore) -> EnglishNetwork | None:
    """Return the shipped network of a spec, else the stored one, else None."""
    if is_shipped(spec):
        try:
            return load_shipped(spec)
        except WeightsError as error:
            logger.warning("A shipped network is left out: %s", error)
    return store.find(spec.key, partial(load, spec=spec))


def find_or_train(spec: Spec, store: NetworkStore) -> EnglishNetwork:
    """Return the network of a spec, trained and stored if there is none."""
    check_spec(spec)
    found = find_network(spec, store)
    if found is None:
        logger.info("An encoder of %s parameters learns the small English.", f"{spec.n_parameters:,}")
        found = learn(spec, _log_progress)
        store.keep(spec.key, save(found))
    return found


def _log_progress(state: Learning) -> None:
    n = len(state.loss)
    if n % max(1, state.steps // 10) == 0:
        logger.info("%s of %s steps; the loss is %.2f.", n, state.steps, state.loss[-1])
