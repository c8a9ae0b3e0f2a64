"""What a link may say, and which of its values go together.

Pure functions; `state` applies them to Streamlit. A link never fails: what cannot be is replaced by the nearest thing
that can, with one sentence on what was changed and why.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from playground.config import ModelConfig
from playground.errors import ConfigError
from playground.text import split_sentences
from playground.web.choices.kinds import Several, Text
from playground.web.choices.params import ARCHITECTURE, LOCKED, N_HEADS, PARAMS, SHARED, SIZES, write
from playground.weights.recognise import Recognised

VERSION = "1"
"""Travels as `v`; raised when a default or a parameter's meaning changes, so that old links can be told apart."""


def read(key: str, texts: Sequence[str]) -> tuple[Any, str | None]:
    """Read one parameter, repeated or not; returns its value and a sentence on what was wrong, if anything."""
    param, text = PARAMS[key], texts[-1]
    value, complaint = param.read_all(texts) if isinstance(param, Several) else param.read(text)
    if complaint is None:
        return value, None
    if isinstance(param, Text):
        return value, f"The {key.rpartition('_')[-1]} {complaint}."
    if isinstance(param, Several):
        text = param.wrong(texts)[0]
    return value, f"The link's {key}={_brief(text)} {complaint}; {_named(value)} is used instead."


def settle(
    values: Mapping[str, Any],
    asked: Collection[str] = (),
    *,
    before: Mapping[str, Any] | None = None,
    trained: bool = True,
    own: Recognised | None = None,
) -> tuple[dict[str, Any], list[str]]:
    """Make values go together.

    Args:
        values: of every shared parameter, each in its own domain.
        asked: the keys that a link has just set, rather than the visitor's own hand: these are worth a sentence.
        before: the values that the page showed last, which did go together.
        trained: whether the trained weights are there.
        own: what the visitor's own weights decide, which counts where `weights` is `mine` or `trained here`.

    Returns:
        The values, changed as little as possible, and a sentence for each change that needs one.
    """
    values, notices = dict(values), []
    if values["weights"] == "minilm" and not trained:
        values["weights"] = "random"
        notices.append(
            "The trained weights are not on this server, so these are random weights of the same shape; "
            "the README says how to get the trained ones."
        )
    has_its_own = values["weights"] == "trained here" and own is not None
    if values["tokenizer"] == "wordpiece" and not trained and not has_its_own:
        values["tokenizer"] = "word"
        notices = notices or [
            "The trained model's tokenizer is not on this server, so the text's own words are tokens."
        ]
    n_sentences = max(1, len(split_sentences(values["text"]).sentences))
    if values["sentence"] > n_sentences:
        if "sentence" in asked:
            notices.append(f"There is no sentence {values['sentence']} in this text; the last is {n_sentences}.")
        values["sentence"] = n_sentences
    if values["weights"] == "minilm":
        _lock(values, asked, notices)
    elif values["weights"] in {"mine", "trained here"} and own is not None:
        _follow(values, own, notices)
    else:
        values.update({key: size.read(write(values[key]))[0] for key, size in SIZES.items()})  # back from a file's own
    try:
        model_config(values, vocab_size=1)
    except ConfigError as error:  # each parameter is in its domain, so it is n_heads that does not divide d_model
        heads = _next_divisor(values, before or {})
        notices.append(f"{str(error).rstrip('.')}. Moved to {heads}.")
        values["n_heads"] = heads
    return values, notices


def model_config(values: Mapping[str, Any], vocab_size: int) -> ModelConfig:
    """Return the architecture that the sidebar describes, for a tokenizer's vocabulary.

    Raises:
        ConfigError: the values do not go together.
    """
    return ModelConfig(vocab_size=vocab_size, **{key: values[key] for key in ARCHITECTURE})


def _lock(values: dict[str, Any], asked: Collection[str], notices: list[str]) -> None:
    """Set what the trained weights decide; a link that asks for another shape, but for no weights, gets random ones."""
    odd = [key for key in LOCKED if values[key] != SHARED[key].default]
    wanted = [key for key in odd if key in asked]
    if wanted and "weights" not in asked:
        values["weights"] = "random"
        notices.append(f"The trained weights have another {_listed(wanted)}, so these are random weights.")
        return
    if wanted:
        notices.append(f"The trained weights decide {_listed(wanted)}; choose random weights to set them yourself.")
    values.update({key: SHARED[key].default for key in odd})


def _follow(values: dict[str, Any], own: Recognised, notices: list[str]) -> None:
    """Set what the visitor's own weights tell."""
    values.update({key: known for key, known in own.known.items() if key in ARCHITECTURE or key in ("causal", "seed")})
    if values["positions"] == "learned" and "positions" in own.asked:
        values["positions"] = own.asked["positions"]
        notices.append(f"Your file has no table of learned positions; {values['positions']} is used instead.")


def _next_divisor(values: Mapping[str, Any], before: Mapping[str, Any]) -> int:
    """The number of heads to move to: on in the direction in which the slider was moved, else the nearest."""
    divisors = [heads for heads in N_HEADS if values["d_model"] % heads == 0]
    moved = values["n_heads"] - before.get("n_heads", values["n_heads"])
    onwards = [heads for heads in divisors if (heads - values["n_heads"]) * moved > 0]
    nearest: int = min(onwards or divisors, key=lambda heads: (abs(heads - values["n_heads"]), -heads))
    return nearest


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _named(value: object) -> str:
    """A value in a sentence; of several words the first."""
    if not isinstance(value, tuple):
        return write(value)
    return write(value[0]) if len(value) == 1 else f"{write(value[0])} and {len(value) - 1} more"


def _brief(text: str) -> str:
    """A stranger's text, short enough to quote, without anything that markdown would act on."""
    plain = "".join(c for c in text[:24] if c.isalnum() or c in " .-+_")
    return f"“{plain}{'…' if len(text) > 24 else ''}”"
