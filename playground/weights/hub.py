"""Models of the Hugging Face hub: fetched into its cache, or found there without a network. Never a pickle."""

import logging
import os
from collections.abc import Mapping
from fnmatch import filter as matching
from pathlib import Path

from playground.errors import InputError, PretrainedError
from playground.text.wording import quote_text
from playground.weights import checkpoint
from playground.weights.checkpoint import CONFIG, DOWNLOAD_TIMEOUT, VOCABULARY, WEIGHTS, WORDS

logger = logging.getLogger(__name__)

MAX_BYTES = 2 * 2**30
"""Of all files of one model; BERT large has 1.3 GB."""

_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")


def check_name(name: str) -> None:
    """Raise InputError unless a model on the hub can have this name."""
    from huggingface_hub.errors import HFValidationError  # 0.1 s to import, and seldom needed
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    try:
        validate_repo_id(name if "/" in name else "")
    except HFValidationError:
        raise InputError(
            f"{quote_text(name)} is no folder, and no name on the model hub, such as google/bert_uncased_L-2_H-128_A-2."
        ) from None


def fetch(name: str, max_bytes: int = MAX_BYTES) -> Path:
    """Return the folder of a model in the hub's cache, in its newest revision, or as it is there without a network.

    Raises:
        InputError: no model can have this name.
        PretrainedError: the model can't be had, is too large, or is not one that `checkpoint.load` reads.
    """
    check_name(name)
    try:
        return _download(name, max_bytes)
    except PretrainedError:
        raise
    except Exception as error:  # the cache may have the model
        reason = _explain(name, error)
    return _find_in_cache(name, max_bytes, reason)


def _download(name: str, max_bytes: int) -> Path:
    """Fetch what is read of a model, once its files' names and sizes and its config.json are found good."""
    from huggingface_hub import errors, hf_hub_download, model_info

    if os.environ.get("PLAYGROUND_DOWNLOAD") == "0":
        raise errors.OfflineModeIsEnabled
    info = model_info(name, files_metadata=True, timeout=DOWNLOAD_TIMEOUT, token=False)
    sizes = {file.rfilename: file.size or 0 for file in info.siblings or ()}
    files = _choose_files(name, sizes, max_bytes)
    config = Path(hf_hub_download(name, CONFIG, token=False, etag_timeout=DOWNLOAD_TIMEOUT))
    try:
        checkpoint.read_config_file(config, {})
    except PretrainedError as error:
        raise PretrainedError(str(error).replace(str(config), f"The {CONFIG} of {name}")) from None
    folder = config.parent  # named after its revision
    for file in files:
        hf_hub_download(name, file, revision=folder.name, token=False, etag_timeout=DOWNLOAD_TIMEOUT)
    return folder


def _find_in_cache(name: str, max_bytes: int, reason: str) -> Path:
    from huggingface_hub import try_to_load_from_cache

    cached, there = try_to_load_from_cache(name, CONFIG), f"There is no folder {name}, {reason}, and the cache's copy"
    if not isinstance(cached, str):
        raise PretrainedError(f"{there} is missing.")
    folder = Path(cached).parent
    _choose_files(there, {path.name: path.stat().st_size for path in folder.iterdir()}, max_bytes)
    return folder


def _explain(name: str, error: Exception) -> str:
    import httpx2  # what the hub sends its requests through
    from huggingface_hub import errors

    if isinstance(error, errors.OfflineModeIsEnabled):
        return "downloads are switched off"
    if not isinstance(error, OSError | httpx2.HTTPError):  # a mistake of the code, not of a network or a hub
        logger.warning("%s could not be downloaded", name, exc_info=error)
    if isinstance(error, errors.RepositoryNotFoundError | errors.DisabledRepoError):
        return "the hub has no model of this name that everybody may read"
    return "the hub can't be reached"


def _choose_files(name: str, sizes: Mapping[str, int], max_bytes: int) -> list[str]:
    """Return which of a model's files are read; PretrainedError if one is missing or they are too large."""
    weights = matching(sizes, WEIGHTS) or matching(sizes, checkpoint.SHARDS)
    tokenizer = matching(sizes, VOCABULARY) or matching(sizes, WORDS)
    if not weights and any(matching(sizes, pattern) for pattern in _PICKLES):
        raise PretrainedError(f"{name} has only a pickle, not read: `model.save_pretrained(folder)` saves safetensors.")
    needed = {CONFIG: CONFIG in sizes, WEIGHTS: weights, f"{VOCABULARY}, nor BERT's {WORDS}": tokenizer}
    missing = next((file for file, found in needed.items() if not found), None)
    if missing is not None:
        raise PretrainedError(f"{name} has no {missing}.")
    files = [CONFIG, *weights, *tokenizer, *matching(sizes, checkpoint.WORDS_CONFIG)]
    n_bytes = sum(sizes[file] for file in files)
    if n_bytes > max_bytes:
        n, most = (f"{each / 2**20:,.1f}" for each in (n_bytes, max_bytes))
        raise PretrainedError(f"{name} has {n} MB; at most {most} MB can be opened here.")
    return files
