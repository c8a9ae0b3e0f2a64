"""Trained encoders, found, checked and loaded: `load`."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, overload

from playground.errors import InputError, PretrainedError, list_nearest
from playground.language.family import change, find_or_train
from playground.language.network import EnglishNetwork
from playground.model import Encoder
from playground.text import Tokenizer
from playground.text.wording import quote_word
from playground.weights import checkpoint, hub
from playground.weights.store import NetworkStore, default_folder

__all__ = ["PretrainedError", "load"]


@overload
def load(source: Literal["english"], **settings: Any) -> tuple[EnglishNetwork, Tokenizer]: ...  # type: ignore[overload-overlap]


@overload
def load(source: str | os.PathLike[str] = "minilm") -> tuple[Encoder, Tokenizer]: ...


def load(source: str | os.PathLike[str] = "minilm", **settings: Any) -> tuple[Encoder | EnglishNetwork, Tokenizer]:
    """Load a trained encoder, in eval mode and without gradients, and its tokenizer.

    Args:
        source: "minilm"; a folder as Hugging Face saves one: see `checkpoint.load`; or owner/name of such a model on
            the hub, fetched into its cache, or found there without a network: see `hub.fetch`. "english" is an encoder
            of the small English: shipped, or trained here before, or trained now, which takes a minute; the log says
            how far it is.
        settings: of the small English alone: fields of `ModelConfig`, `causal` and `seed`; others are those of
            `network.BASE`, or follow as `family.implied` says.

    Raises:
        PretrainedError: a file is missing, damaged, too large, or of a model that this encoder does not support.
        ConfigError: a setting is unknown, or the encoder can't be built.
        InputError: there are settings and the source is not "english", or the encoder is too large to be trained here,
            or the source is no folder and no name on the hub.
    """
    if source == "english":
        network = find_or_train(change(**settings), NetworkStore(default_folder()))
        return network, network.tokenizer
    if not isinstance(source, str | os.PathLike):
        raise InputError("load takes a folder or a name, such as minilm or owner/name.")
    if settings:
        raise InputError(f'Only load("english") takes settings such as {next(iter(settings))}.')
    if isinstance(source, str):
        check_source(source, ("minilm", "english"))
        source = os.path.expanduser(source)
        if source.count("/") == 1 and not Path(source).exists():
            source = hub.fetch(source)
    return checkpoint.load(source)


def check_source(source: str, names: Sequence[str]) -> None:
    """Raise PretrainedError for a text that is none of these names, no path, and no name on the hub."""
    if source not in names and "/" not in source and not Path(source).exists():
        known = f"{list_nearest(source, names)}; a model on the hub is owner/name"
        raise PretrainedError(f"No folder or set of weights is called {quote_word(source)}: {known}.")
