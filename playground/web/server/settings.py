"""What whoever runs the app may set: environment variables with the prefix PLAYGROUND_."""

import logging
import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playground.runs.budget import MAX_PARAMETERS

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Settings:
    """The deployment's choices; a field's variable is PLAYGROUND_ and the field's name in capitals."""

    max_parameters: int = MAX_PARAMETERS
    """Largest model that is built and run, in parameters; counting alone has no limit."""
    max_sessions: int = 200
    """Visitors connected at once; the next one is asked to come back."""
    max_pages_per_browser: int = 30
    """Of these, pages that one browser may have open; without its cookie, the next setting alone holds."""
    address_share: float = 0.75
    """Share of `max_sessions` that may come from one network address, which a whole campus may have."""
    idle_after: float = 3600.0
    """Seconds without a message after which an open page makes room for the next visitor, where there is no other."""
    device: str = "auto"
    """Where models run: "auto" (CUDA where present), "cpu", "cuda" or "cuda:<index>"."""
    threads: int = 1
    """CPU threads of one pass. More of them help large models alone, and wait for each other where visitors share."""
    frame_ancestors: str = "'self'"
    """Who may show the app in a frame, as in the Content-Security-Policy directive of this name."""
    busy_timeout: float = 20.0
    """Seconds that a visitor waits for a turn to compute before the page says that the server is busy."""
    slow_seconds: float = 5.0
    """Seconds from which the run of a page is named in the log."""
    max_own_weights: int = 2_000_000_000
    """Bytes that the weights visitors have opened, train or have trained, and the models made of them, may take."""
    max_cached_results: int = 320_000_000
    """Bytes of computed results that all visitors share; the least lately used go first.

    Two runs of the largest size have room, as pages compare two settings, and what is drawn of them."""
    max_cached_weights: int = 500_000_000
    """Bytes of random weights that all visitors share; more where the two models used last need it."""
    release_after: float = 150.0
    """Seconds without any visitor after which what they computed is dropped; Streamlit keeps a session for 120."""
    weights_folder: Path | None = None
    """Folder whose safetensors files every visitor may open; None: visitors bring their own."""
    max_trainings: int = field(default_factory=lambda: max(1, (os.cpu_count() or 1) // 2))
    """Networks that train at once; further visitors wait in a queue."""
    max_training_seconds: float = 300.0
    """Longest training, by the estimate before its start."""
    max_shared_runs: int = 32
    """Finished runs that are kept for whoever starts the same one again; the one used longest ago goes first."""
    max_shared_bytes: int = 200_000_000
    """Bytes that these may take together."""
    ray: str = ""
    """The Ray cluster that trains: "auto", "local" or host:port, as Ray has it; empty: this process trains."""
    ray_cpus: float = 1.0
    """Cores of one training there, or the share of one."""
    ray_gpus: float = 0.0
    """GPUs of one training there, or the share of one; 0: it trains on the CPU."""


def read_settings(environ: Mapping[str, str]) -> Settings:
    """Settings from `environ`; a value that makes no sense is logged, and the default stands in its place."""
    defaults, values = vars(Settings()), {}
    for name, default in defaults.items():
        variable = f"PLAYGROUND_{name.upper()}"
        if variable not in environ:
            continue
        parse = _PARSERS.get(name, _count if isinstance(default, int) else _seconds)
        try:
            values[name] = parse(environ[variable].strip())
        except ValueError as error:
            logger.warning("%s is ignored, %r is used: %s", variable, default, error)
    return Settings(**values)


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError(f"{value} is below 1")
    return value


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < math.inf:
        raise ValueError(f"{value} is not a time above 0")
    return value


def _folder(text: str) -> Path:
    if not Path(text).is_absolute() or not Path(text).is_dir():
        raise ValueError(f"{text!r} is not the full path of a folder")
    return Path(text)


def _cluster(text: str) -> str:
    if not re.fullmatch(r"auto|local|([\w.-]+|\[[\da-fA-F:]+\]):\d{1,5}", text):
        raise ValueError(f"{text!r} is none of auto, local, host:port")
    return text


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value < math.inf:
        raise ValueError(f"{value} is not a number from 0")
    return value


def _part(text: str) -> float:
    value = float(text)
    if not 0 < value <= 1:
        raise ValueError(f"{value} is not above 0 and at most 1")
    return value


def _device(text: str) -> str:
    if not re.fullmatch(r"auto|cpu|cuda(:\d+)?", text):
        raise ValueError(f"{text!r} is none of auto, cpu, cuda, cuda:<index>")
    return text


def _sources(text: str) -> str:
    # The value becomes part of a header: a separator in it would add a directive, a line break another header.
    if not (text and text.isascii() and text.isprintable()) or set(text) & set(";,"):
        raise ValueError(f"{text!r} is not a list of sources such as 'self' https://school.example")
    return text


_PARSERS: dict[str, Callable[[str], Any]] = {
    "address_share": _part,
    "device": _device,
    "frame_ancestors": _sources,
    "ray": _cluster,
    "ray_gpus": _share,
    "weights_folder": _folder,
}
"""How a setting is read that is neither a count nor seconds."""
