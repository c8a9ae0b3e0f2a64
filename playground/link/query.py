"""A link's query string: read, repaired to the nearest that can be, and written."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

from playground.config import POSITION_TABLES
from playground.errors import ConfigError, PlaygroundError
from playground.language.network import check_spec
from playground.limits import MAX_TOKENS
from playground.link import params
from playground.link.kinds import read_param, write
from playground.link.params import (
    ARCHITECTURE,
    FOLDS,
    LOCKED,
    OWN,
    PARAMS,
    SHARED,
    SIZES,
    SMALL,
    default_values,
    model_config,
    write_all,
    write_changed,
)
from playground.presets import PRESETS
from playground.text import split_sentences
from playground.text.wording import join_words, quote_text
from playground.weights.recognise import RecognisedWeights

Texts = Mapping[str, list[str]]
"""A link's texts, by parameter."""

Settled = tuple[dict[str, Any], list[str]]
"""Values that go together, and a sentence on each change that needs one."""

VERSION = "2"
"""Travels as `v`; raised when a default or a parameter's meaning changes."""

MARKER, PREFIX = "pinned", "b_"
"""Says that settings are pinned, if none of theirs does; what theirs begin with."""

PINNED_KEYS = {f"{PREFIX}{key}": key for key in SHARED}
"""The link's parameters for pinned values → the sidebar's."""

KNOWN = {"v", "embed", "embed_options", "only", MARKER, *PINNED_KEYS, *PARAMS}

HIDDEN = {
    "trained example": ("encdec_target", "encdec_attention", "encdec_layer", "encdec_head", "encdec_position"),
    "your text": tuple(key for key in OWN if key.startswith("encdec_example")),
}
"""By `encdec_source`: what the page Encoder-decoder has beside the other source alone, and no link then holds."""


def needed_panels(linked: Collection[str | None]) -> dict[str, bool]:
    """Return the panels, open, that hold what a link with these keys sets."""
    return {panel: True for key, panel in FOLDS.items() if key in linked}


def read(key: str, texts: Sequence[str]) -> tuple[Any, str | None]:
    """Read one parameter, repeated or not; returns its value and a sentence on what was wrong, if anything."""
    param = PARAMS[key]
    value, complaint = read_param(param, texts)
    if complaint is None or param.kind == "notation":
        return value, complaint
    if param.kind == "text":
        return value, f"The {key.rpartition('_')[-1]} {complaint}."
    wrong = texts[-1]
    if param.kind == "several":
        wrong = next(word for word in texts if word and word not in param.options)
    used = ", ".join(write_all(value))
    return value, f"The link's {key}={quote_text(wrong, longest=22)} {complaint}; {used} is used instead."


def read_link(texts: Texts) -> Settled:
    """Return the values that a link sets, each in its own domain, and what is wrong with it."""
    linked = {key: texts[key] for key in texts if key in PARAMS}
    readings = {key: read(key, linked[key]) for key in linked}
    values = needed_panels({*linked, *texts.get("only", ())}) | {key: value for key, (value, _) in readings.items()}
    if "encdec_source" not in linked and not linked.keys().isdisjoint(HIDDEN["trained example"]):
        values["encdec_source"] = "your text"
    sentences = [complaint for _, complaint in readings.values() if complaint]
    if texts.get("v", [VERSION])[-1] != VERSION:
        sentences.append("This link was made by another version of the playground; some of it may look different.")
    return values, sentences


def read_pinned(texts: Texts, now: Mapping[str, Any]) -> tuple[dict[str, Any] | None, set[str], list[str]]:
    """Return what a link pins, if anything; which of the sidebar's keys it sets; and what is wrong."""
    readings = {key: read(key, texts[name]) for name, key in PINNED_KEYS.items() if name in texts}
    if not readings and texts.get(MARKER, [""])[-1].lower() != "true":
        return None, set(), []
    values = {key: value for key, (value, _) in readings.items()}
    return {**now, **values}, set(readings), [of_pinned(wrong) for _, wrong in readings.values() if wrong]


def read_texts(
    texts: Texts,
    settle: Callable[[Mapping[str, Any], Collection[str]], Settled],
    others: Mapping[str, Any] | None = None,
) -> tuple[dict[str, Any], dict[str, Any] | None, list[str]]:
    """Return the values of every parameter as a link sets them; those that it pins; and sentences on both.

    `settle` makes shared values go together, some of which a link has set; what it does not name is of `others`.
    """
    values, sentences = read_link(texts)
    asked = (default_values(values) if others is None else dict(others)) | values
    settled, reasons = settle({key: asked[key] for key in SHARED}, values.keys())
    pinned, from_link, wrong = read_pinned(texts, settled)
    if pinned is not None:
        pinned, unfit = settle(pinned, from_link)
        wrong += map(of_pinned, unfit)
    return asked | settled, pinned, [*sentences, *reasons, *name_unknown(texts), *wrong]


def normalise(texts: Texts) -> dict[str, list[str]]:
    """Return a link's texts, even if a course page wrote `&amp;` for the `&` between two, or a panel is a view now."""
    read = {key.removeprefix("amp;"): value for key, value in texts.items()}
    _, steps, why = (read.pop(f"attention_{panel}", []) for panel in ("drawing", "steps", "why"))
    view = why or (["sources"] if steps not in ([], ["false"]) else [])
    return {"attention_view": view, **read} if view else read


def name_unknown(texts: Collection[str]) -> list[str]:
    """Return a sentence on the unknown parameters of a link, if it has some."""
    unknown = [quote_text(key, longest=24) for key in texts if key not in KNOWN]
    some = unknown[:3] + ([f"{len(unknown) - 3} more"] if len(unknown) > 3 else [])
    return [f"The playground knows no {join_words(some)}; nothing depends on it here."] if some else []


def of_pinned(sentence: str) -> str:
    """Return a sentence on the pinned settings."""
    return f"In the pinned settings: {sentence}"


def pinned_texts(pinned: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the link's texts for pinned values beside the present ones."""
    different = {name: write_all(pinned[key]) for name, key in PINNED_KEYS.items() if pinned[key] != now[key]}
    return different or {MARKER: ["true"]}


def write_query(values: Mapping[str, Any], pinned: Mapping[str, Any] | None = None) -> str:
    """Return the query string, without its question mark, of values that are not at their frozen defaults."""
    texts = write_changed(values) | ({} if pinned is None else pinned_texts(pinned, values)) | {"v": [VERSION]}
    return urlencode(texts, doseq=True)


# --- values that go together

NO_CHECKPOINT = (
    "The trained weights are not on this server, so weights are random and the text's own words are tokens; "
    "CONTRIBUTING.md says how to get the trained ones."
)


_GIVES_WAY: Mapping[str, tuple[str, Any]] = {"fused_qkv": ("n_kv_heads", 0), "d_head": ("positions", "sinusoidal")}
"""By what a file decides: what it leaves open, and a value of that which fits."""


def settle(
    values: Mapping[str, Any],
    from_link: Collection[str] = (),
    *,
    shown_before: Mapping[str, Any] | None = None,
    has_checkpoint: bool = True,
    recognised: RecognisedWeights | None = None,
) -> Settled:
    """Make shared values, each in its own domain, go together, by as few changes as possible.

    Args:
        values: to start from.
        from_link: the keys that a link has just set.
        shown_before: the values that the page showed last.
        has_checkpoint: whether the checkpoint is on this server.
        recognised: what the upload or the trained network decides, if `weights` chooses it.
    """
    values, notices = dict(values), []
    if values["weights"] == "minilm" and not has_checkpoint:
        values["weights"] = "random"
        notices.append(NO_CHECKPOINT)
    has_its_own = values["weights"] == "english" or (values["weights"] == "trained here" and recognised is not None)
    if values["tokenizer"] == "wordpiece" and not has_checkpoint and not has_its_own:
        values["tokenizer"] = "word"
        notices = [NO_CHECKPOINT]
    if values["sentence"] > 1:  # a text is split only where it matters
        n_sentences = max(1, len(split_sentences(values["text"]).sentences))
        if values["sentence"] > n_sentences and "sentence" in from_link:
            notices.append(f"There is no sentence {values['sentence']} in this text; the last is {n_sentences}.")
        values["sentence"] = min(values["sentence"], n_sentences)
    if values["weights"] == "minilm":
        _apply_checkpoint(values, from_link, notices)
    elif values["weights"] == "english":
        values.update({key: SHARED[key].default for key in LOCKED if key not in ARCHITECTURE})
    elif values["weights"] in {"mine", "trained here"} and recognised is not None:
        _apply_recognised(values, recognised, notices)
    else:  # an upload that was open until now may have left sizes between the sliders' stops
        values.update({key: read_param(size, [write(values[key])])[0] for key, size in SIZES.items()})
    rows = int(has_its_own or values["tokenizer"] != "vectors")
    while (error := _find_error(values, rows)) is not None:  # each is in its domain: one does not fit another
        key = error.field
        if recognised is not None and key in recognised.settings and key in _GIVES_WAY:
            key, new = _GIVES_WAY[key]
        elif key == "n_heads":
            new = _next_divisor(values, shown_before or {})
        else:
            new = _nearest_fit(values, error)
        notices.append(f"{str(error).partition(';')[0].rstrip('.')}: {key} is {write(new)} now.")
        values[key] = new
    if values["weights"] == "english":
        try:
            check_spec(params.spec_of(values))
        except PlaygroundError as error:
            values.update({key: params.english_defaults({})[key] for key in SIZES})
            notices.append(f"{str(error).rstrip('.')}. All sizes are the base's now.")
    return values, notices


def _apply_checkpoint(values: dict[str, Any], from_link: Collection[str], notices: list[str]) -> None:
    """Set what the checkpoint decides; a link that asks for another shape, but for no weights, gets random ones."""
    odd = [key for key in LOCKED if values[key] != SHARED[key].default]
    if wanted := [key for key in odd if key in from_link]:
        notices.append(f"The trained weights have another {join_words(wanted)}; random weights take any.")
        if "weights" not in from_link:
            values["weights"] = "random"
            return
    values.update({key: SHARED[key].default for key in odd})


def _apply_recognised(values: dict[str, Any], recognised: RecognisedWeights, notices: list[str]) -> None:
    values.update({key: set_ for key, set_ in recognised.settings.items() if key in {*ARCHITECTURE, "causal", "seed"}})
    if values["tokenizer"] == "vectors" and values["weights"] == "mine" and recognised.settings["vocab_size"]:
        values["tokenizer"] = "word"
        notices.append("Your file has a token table, so words are rows of it, not vectors.")
    if values["positions"] == "learned" and "positions" in recognised.open_settings:
        values["positions"] = recognised.open_settings["positions"]
        notices.append(f"Your file has no table of learned positions; {values['positions']} is used instead.")


def _find_error(values: Mapping[str, Any], vocab_size: int = 1) -> ConfigError | None:
    try:
        model_config(values, vocab_size)
    except ConfigError as error:
        return error
    return None


def _next_divisor(values: Mapping[str, Any], shown_before: Mapping[str, Any]) -> int:
    """Return the next number of heads in the direction in which the slider was moved, else the nearest."""
    divisors = [heads for heads in map(int, SIZES["n_heads"].options) if values["d_model"] % heads == 0]
    moved = values["n_heads"] - shown_before.get("n_heads", values["n_heads"])
    onwards = [heads for heads in divisors if (heads - values["n_heads"]) * moved > 0]
    nearest: int = min(onwards or divisors, key=lambda heads: (abs(heads - values["n_heads"]), -heads))
    return nearest


def _nearest_fit(values: Mapping[str, Any], error: ConfigError) -> Any:
    key, (nearest, *_) = error.field, error.works
    if key not in SIZES:
        return nearest
    near = sorted(SIZES[key].options, key=lambda stop: abs(stop - nearest))
    errors = ((stop, _find_error({**values, key: stop})) for stop in near)
    return next(stop for stop, found in errors if found is None or found.field != key)


# --- what follows from values


def trains_small(values: Mapping[str, Any]) -> bool:
    """Whether Training trains another size than the chosen one: MiniLM's is too large."""
    has_its_size = all(values[key] == ARCHITECTURE[key].default for key in SMALL)
    return has_its_size and values["weights"] in ("minilm", "random")


def shape_to_train(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of what Training trains."""
    return {key: values[key] for key in ARCHITECTURE} | (SMALL if trains_small(values) else {})


def choose_tokenizer(values: Mapping[str, Any]) -> tuple[str, int]:
    """Return the tokenizer's name, and the tokens that `bpe` is trained to, 0 for the others."""
    name = "word" if values["tokenizer"] == "vectors" else str(values["tokenizer"])
    return name, values["vocab_size"] if values["tokenizer"] == "bpe" else 0


def longest_sentence(values: Mapping[str, Any]) -> int:
    """Return the tokens after which a sentence is cut."""
    return min(int(values["max_len"]), MAX_TOKENS) if values["positions"] in POSITION_TABLES else MAX_TOKENS


def explain_cut(values: Mapping[str, Any]) -> str:
    """Return why a long sentence is cut."""
    if longest_sentence(values) == MAX_TOKENS:
        return f"This server reads no more than {MAX_TOKENS:,} tokens of a sentence."
    return f"The model reads no more: its `max_len` is {values['max_len']:,}."


@cache
def values_of_preset(name: str, *, has_wordpiece: bool) -> MappingProxyType[str, Any]:
    """Return what a preset sets beside the weights: architecture, tokens, and its text if it has one."""
    preset = PRESETS[name]
    values = {key: vars(preset.config)[key] for key in ARCHITECTURE}
    own_text = {} if preset.text is None else {"text": preset.text}
    tokenizer = preset.tokenizer
    if tokenizer == "wordpiece" and not has_wordpiece:
        tokenizer = "word"
    exact = tokenizer in ("wordpiece", "vectors") or preset.text is not None
    rows = 0 if exact else preset.config.vocab_size
    return MappingProxyType(values | own_text | {"tokenizer": tokenizer, "table_rows": rows})
