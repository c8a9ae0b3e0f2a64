"""What a link may say, and which of its values go together.

Pure functions; `open_page` applies them to Streamlit. A link never fails: what cannot be is replaced by the nearest
thing that can, with one sentence on what was changed and why.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from playground.config import ModelConfig
from playground.errors import ConfigError
from playground.link.kinds import Notation, Param, Several, Text
from playground.link.params import ARCHITECTURE, LOCKED, PARAMS, SHARED, SIZES, write, write_all
from playground.text import split_sentences
from playground.text.wording import join_words, quote_text
from playground.weights.recognise import RecognisedWeights

VERSION = "2"
"""Travels as `v`; raised when a default or a parameter's meaning changes, so that old links can be told apart.

In version 1, a seed's random weights were other ones; see `old_links.describe_other_weights`.
"""


def read(key: str, texts: Sequence[str]) -> tuple[Any, str | None]:
    """Read one parameter, repeated or not; returns its value and a sentence on what was wrong, if anything."""
    return read_param(PARAMS[key], key, texts)


def read_param(param: Param, name: str, texts: Sequence[str]) -> tuple[Any, str | None]:
    """The same for a parameter that the link calls `name`."""
    value, complaint = param.read_all(texts)
    if complaint is None:
        return value, None
    if isinstance(param, Notation):
        return value, complaint
    if isinstance(param, Text):
        return value, f"The {name.rpartition('_')[-1]} {complaint}."
    text = param.wrong(texts)[0] if isinstance(param, Several) else texts[-1]
    return value, f"The link's {name}={quote_text(text, longest=24)} {complaint}; {_named(value)} is used instead."


def settle(
    values: Mapping[str, Any],
    from_link: Collection[str] = (),
    *,
    shown_before: Mapping[str, Any] | None = None,
    has_checkpoint: bool = True,
    recognised: RecognisedWeights | None = None,
) -> tuple[dict[str, Any], list[str]]:
    """Make the values of all shared parameters, each in its own domain, go together, by as few changes as possible.

    Args:
        values: to start from.
        from_link: the keys that a link has just set, rather than the visitor's own hand: these are worth a sentence.
        shown_before: the values that the page showed last, which did go together.
        has_checkpoint: whether the checkpoint is on this server.
        recognised: what the upload or the trained network decides, if `weights` chooses it.

    Returns:
        The values, and a sentence for each change that needs one.
    """
    values, notices = dict(values), []
    if values["weights"] == "minilm" and not has_checkpoint:
        values["weights"] = "random"
        notices.append(
            "The trained weights are not on this server, so these are random weights of the same shape; "
            "the README says how to get the trained ones."
        )
    has_its_own = values["weights"] == "trained here" and recognised is not None
    if values["tokenizer"] == "wordpiece" and not has_checkpoint and not has_its_own:
        values["tokenizer"] = "word"
        notices = notices or [
            "The trained model's tokenizer is not on this server, so the text's own words are tokens."
        ]
    if values["sentence"] > 1:  # a text is split only where it matters
        n_sentences = max(1, len(split_sentences(values["text"]).sentences))
        if values["sentence"] > n_sentences and "sentence" in from_link:
            notices.append(f"There is no sentence {values['sentence']} in this text; the last is {n_sentences}.")
        values["sentence"] = min(values["sentence"], n_sentences)
    if values["weights"] == "minilm":
        _apply_checkpoint(values, from_link, notices)
    elif values["weights"] in {"mine", "trained here"} and recognised is not None:
        _apply_recognised(values, recognised, notices)
    else:  # an upload that was open until now may have left sizes between the sliders' stops
        values.update({key: size.read(write(values[key]))[0] for key, size in SIZES.items()})
    try:
        model_config(values, vocab_size=1)
    except ConfigError as error:  # each parameter is in its domain, so it is n_heads that does not divide d_model
        heads = _next_divisor(values, shown_before or {})
        notices.append(f"{str(error).rstrip('.')}. Moved to {heads}.")
        values["n_heads"] = heads
    return values, notices


def model_config(values: Mapping[str, Any], vocab_size: int) -> ModelConfig:
    """The architecture that the sidebar describes, for a tokenizer's vocabulary; raises ConfigError."""
    return ModelConfig(vocab_size=vocab_size, **{key: values[key] for key in ARCHITECTURE})


def _apply_checkpoint(values: dict[str, Any], from_link: Collection[str], notices: list[str]) -> None:
    """Set what the checkpoint decides; a link that asks for another shape, but for no weights, gets random ones."""
    odd = [key for key in LOCKED if values[key] != SHARED[key].default]
    wanted = [key for key in odd if key in from_link]
    if wanted and "weights" not in from_link:
        values["weights"] = "random"
        notices.append(f"The trained weights have another {join_words(wanted)}, so these are random weights.")
        return
    if wanted:
        notices.append(f"The trained weights decide {join_words(wanted)}; choose random weights to set them yourself.")
    values.update({key: SHARED[key].default for key in odd})


def _apply_recognised(values: dict[str, Any], recognised: RecognisedWeights, notices: list[str]) -> None:
    """Set what the upload or the trained network decides."""
    decided = {key: known for key, known in recognised.settings.items() if key in {*ARCHITECTURE, "causal", "seed"}}
    values.update(decided)
    if values["tokenizer"] == "vectors" and values["weights"] == "mine" and recognised.settings["vocab_size"]:
        values["tokenizer"] = "word"
        notices.append("Your file has a token table, so words are rows of it, not vectors.")
    if values["positions"] == "learned" and "positions" in recognised.open_settings:
        values["positions"] = recognised.open_settings["positions"]
        notices.append(f"Your file has no table of learned positions; {values['positions']} is used instead.")


def _next_divisor(values: Mapping[str, Any], shown_before: Mapping[str, Any]) -> int:
    """The number of heads to move to: on in the direction in which the slider was moved, else the nearest."""
    divisors = [heads for heads in map(int, SIZES["n_heads"].options) if values["d_model"] % heads == 0]
    moved = values["n_heads"] - shown_before.get("n_heads", values["n_heads"])
    onwards = [heads for heads in divisors if (heads - values["n_heads"]) * moved > 0]
    nearest: int = min(onwards or divisors, key=lambda heads: (abs(heads - values["n_heads"]), -heads))
    return nearest


def _named(value: object) -> str:
    """A value in a sentence; of several words the first."""
    first, *more = write_all(value)
    return f"{first} and {len(more)} more" if more else first
