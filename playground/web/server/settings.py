"""What operators may set, by environment variables with the prefix PLAYGROUND_."""

import logging
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from playground.runs.budget import MAX_PARAMETERS

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Settings:
    """The operator's choices; a field's variable is PLAYGROUND_ and its name in capitals."""

    max_parameters: int = MAX_PARAMETERS
    """Largest model that is run, in parameters; counting has no limit."""
    max_sessions: int = 200
    """Pages open at once."""
    device: str = "auto"
    """Where models run: "auto" (CUDA where present), "cpu", "cuda" or "cuda:<index>"."""
    threads: int = 1
    """CPU threads of one pass; more help large models, as long as visitors don't share."""
    frame_ancestors: str = "'self'"
    """Who may show the app in a frame, as in the directive of this name."""
    busy_timeout: float = 20.0
    """Seconds that a visitor waits for a turn to compute."""
    slow_seconds: float = 5.0
    """Seconds from which a run of a page is logged."""
    max_own_weights: int = 1_000_000_000
    """Bytes of the weights that visitors have opened, train or have trained, and models made of them."""
    max_cached: int = 1_200_000_000
    """Bytes of results that all visitors share; the least recently used go first."""
    release_after: float = 150.0
    """Seconds without any visitor after which results are dropped; Streamlit keeps a session for 120."""
    max_trainings: int = field(default_factory=lambda: max(1, (os.cpu_count() or 1) // 2))
    """Networks that train at once; others wait in a queue."""
    max_training_seconds: float = 300.0
    """Longest training, by the estimate before its start."""
    max_shared_runs: int = 32
    """Finished runs that are kept for whoever starts the same one."""
    max_shared_bytes: int = 200_000_000
    """Bytes of these."""
    ray: str = ""
    """The Ray cluster that trains: "auto", "local" or host:port; empty: this process trains."""
    ray_cpus: float = 1.0
    """Cores of one training there."""
    ray_gpus: float = 0.0
    """GPUs of one training there."""


def read_settings(environ: Mapping[str, str]) -> Settings:
    """Return the settings of `environ`; a value that makes no sense is logged, and the default is used."""
    values = {}
    for name, default in vars(Settings()).items():
        variable = f"PLAYGROUND_{name.upper()}"
        if variable in environ:
            try:
                values[name] = _parse(name, environ[variable].strip(), default)
            except ValueError as error:
                logger.warning("%s is ignored, %r is used: %s", variable, default, error)
    return Settings(**values)


def _parse(name: str, text: str, default: Any) -> Any:
    if isinstance(default, str):
        if not (text and text.isascii() and text.isprintable()) or set(text) & set(";,"):
            raise ValueError("it is empty, or has characters that no setting has")
        return text
    value = type(default)(text)
    if not 0 < value < math.inf and not (name == "ray_gpus" and value == 0):
        raise ValueError(f"{value} is not a number above 0")
    return value
