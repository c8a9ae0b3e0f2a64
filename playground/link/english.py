"""The small English in a link: the defaults of its settings, its first text, and the network that values name."""

from collections.abc import Mapping
from typing import Any

from playground.config import SETTINGS, ModelConfig
from playground.language.family import implied
from playground.language.learner import SHOWN
from playground.language.network import BASE, Spec
from playground.language.text import MASK, MASK_ID, VOCABULARY, english_tokenizer

TEXT = SHOWN.replace(MASK, "animal")
PLACE = english_tokenizer().encode_batch([SHOWN]).ids[0].tolist().index(MASK_ID)
"""Position of the word in `TEXT` that is hidden at first."""

NO_MASK = -1

DECIDING, FOLLOWING = ("d_model", "norm_placement", "norm"), ("d_ff", "final_norm", "n_heads")
"""The settings from which the defaults of others follow, and these others."""

_BASE = {key: getattr(BASE, key) for key in SETTINGS}


def default_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the base's architecture, text and mask, with what follows from given values (`family.implied`)."""
    following = implied({key: values[key] for key in DECIDING if key in values})
    is_first_text = values.get("text", TEXT) == TEXT
    return {**_BASE, **following, "text": TEXT, "mask": PLACE if is_first_text else NO_MASK}


def spec_of(values: Mapping[str, Any]) -> Spec:
    """Return the network that settled values name."""
    config = ModelConfig(vocab_size=len(VOCABULARY), **{key: values[key] for key in SETTINGS})
    return Spec(config, values["causal"], values["seed"])


def values_of(spec: Spec) -> dict[str, Any]:
    """Return the settings of a network, by their keys in the link."""
    return {**{key: getattr(spec.config, key) for key in SETTINGS}, "causal": spec.causal, "seed": spec.seed}
