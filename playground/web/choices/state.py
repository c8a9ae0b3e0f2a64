"""The visitor's choices: query parameters ⇄ widgets → one `Setup` that a run is made from."""

from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from playground.config import ModelConfig
from playground.limits import MAX_TOKENS
from playground.text import Batch, Sentences, split_sentences
from playground.training.after.trained_network import Trained
from playground.web.choices import link, params
from playground.web.choices.kinds import Whole
from playground.web.session import caches, trained_slot, uploaded_weights
from playground.weights.recognise import Recognised

NOTICES = "_notices"
"""Session key of (the choices they are about, the sentences); they stay until a choice changes."""

SHOWN = "_shown"
"""Session key of the shared values that the page showed last."""

OPEN = "_open"
"""Session key of the page that was drawn last, by its path."""


_NOT_IN_A_LINK = {
    "mine": "A link can't carry a weights file, so these are random weights of its architecture; "
    "open the file in the sidebar to see yours.",
    "trained here": "A link can't carry what was trained, so these are random weights of the same architecture; "
    "the Training page trains it anew.",
}


@dataclass(frozen=True)
class Setup:
    """Everything that a run depends on: the sidebar's values, by their keys."""

    values: dict[str, Any]

    def __getitem__(self, key: str) -> Any:
        return self.values[key]

    @property
    def text(self) -> Sentences:
        """The typed text as sentences, with notes on what had to change."""
        return split_sentences(self["text"])

    @property
    def text_key(self) -> caches.TextKey:
        """What the tokens depend on; there has to be a sentence."""
        vocab_size = self["vocab_size"] if self["tokenizer"] == "bpe" else 0
        longest = MAX_TOKENS if self["positions"] == "none" else self["max_len"]
        tokenizer = self.trained.key if self.trained else self["tokenizer"]
        return caches.TextKey(tokenizer, vocab_size, longest, self.text.sentences)

    @property
    def batch(self) -> Batch:
        """The tokens; there has to be a sentence."""
        return caches.tokenize(self.text_key)

    @property
    def sentence(self) -> int:
        """The sentence to look at, from 0."""
        return min(int(self["sentence"]), len(self.text.sentences)) - 1

    @property
    def weights(self) -> str:
        """`minilm`, `random`, the SHA-256 of the visitor's own file, or the key of what was trained here.

        Until there is such a file, or such a network, `random`.
        """
        if self["weights"] == "mine":
            return self.own.sha256 if self.own else "random"
        if self["weights"] == "trained here":
            trained = self.trained
            return "random" if trained is None else trained.initial_key if self["untrained"] else trained.key
        return str(self["weights"])

    @property
    def own(self) -> uploaded_weights.UploadedWeights | None:
        """The visitor's own weights, where they are what is shown."""
        return uploaded_weights.current_upload() if self["weights"] == "mine" else None

    @property
    def trained(self) -> Trained | None:
        """What was trained here, where that is what is shown, or what it was before."""
        return trained_slot.shown_network() if self["weights"] == "trained here" else None

    @property
    def drawn(self) -> bool:
        """Whether the weights are random: nothing was learned."""
        return drawn(self.weights)

    @property
    def decided(self) -> Recognised | None:
        """What the visitor's own weights decide."""
        if self.trained:
            return trained_slot.recognised_settings(self.trained)
        return self.own.recognised if self.own else None

    @property
    def config(self) -> ModelConfig:
        """The architecture, with the vocabulary of the visitor's own token table, or else the tokenizer's."""
        vocab_size = self.own.recognised.known["vocab_size"] if self.own else 0
        return link.model_config(self.values, vocab_size or caches.tokenizer(self.text_key).vocab_size)

    @property
    def run_key(self) -> tuple[caches.TextKey, int, str, ModelConfig, int, bool]:
        """What the run of the sentence depends on, as `cache.run_sentence` takes it."""
        return self.text_key, self.sentence, self.weights, self.config, self["seed"], self["causal"]


def drawn(weights: str) -> bool:
    """Whether weights, as `Setup.weights`, are random."""
    return weights == "random" or weights.startswith("initial-")


def value(key: str) -> Any:
    """One choice: from its widget once there is one, and from the link before."""
    if key in st.session_state:
        return st.session_state[key]
    texts = st.query_params.get_all(key)
    return link.read(key, texts)[0] if texts else params.PARAMS[key].default


def current() -> Setup:
    """The visitor's choices, as the sidebar has or is about to have them."""
    return Setup({key: value(key) for key in params.SHARED})


def open_page(page: str) -> None:
    """Make the visitor's choices go together, before any widget exists.

    A choice comes from its widget once there is one, and from the link before. What has to change is written back to
    whichever it came from, so that widgets, link and charts agree.

    Args:
        page: the path of the page that is about to be drawn.
    """
    _bring_back(page)
    texts = {key: st.query_params.get_all(key) for key in st.query_params if key in params.PARAMS}
    from_link = [key for key in texts if key not in st.session_state]
    read = {key: link.read(key, texts[key]) for key in from_link}
    sentences = [complaint for _, complaint in read.values() if complaint]
    outdated = st.query_params.get("v", link.VERSION) != link.VERSION
    if outdated:
        sentences.append("This link was made by another version of the playground; some of it may look different.")

    values = {key: st.session_state.get(key, param.default) for key, param in params.SHARED.items()}
    values.update({key: value for key, (value, _) in read.items() if key in values})
    before = st.session_state.get(SHOWN)
    if trained_slot.update_shown():
        caches.clear_private()
    own = Setup(values).decided
    settled, reasons = link.settle(values, from_link, before=before, trained=caches.checkpoint_available(), own=own)
    if before is None and own is None and values["weights"] in _NOT_IN_A_LINK:
        reasons.append(_NOT_IN_A_LINK[values["weights"]])
    st.session_state[SHOWN] = settled
    if sentences or reasons:
        st.session_state[NOTICES] = (settled, [*sentences, *reasons])

    wanted = {**{key: value for key, (value, _) in read.items()}, **settled}
    changed = [key for key in settled if settled[key] != values[key]]
    for key in changed:
        can_be_linked = link.read(key, params.write_all(settled[key]))[0] == settled[key]
        if key in st.session_state or not can_be_linked:  # such as a size between its slider's stops
            st.session_state[key] = settled[key]
    misspelt = any(params.write_all(read[key][0]) != texts[key] for key in from_link)
    if outdated or misspelt or any(key not in st.session_state for key in changed):
        _rewrite_link(wanted)


def own_keys(page: str) -> list[str]:
    """The parameters of one page, by its path."""
    prefixes = {"": "overview", "step-by-step": "step", "encoder-decoder": "encdec", "gradient-flow": "gradient"}
    prefix = prefixes.get(page, page)
    return [key for key in params.OWN if key.startswith(f"{prefix}_")]


def _bring_back(page: str) -> None:
    """Put a page's own values back into the link after a step back in the browser's history.

    The session has kept them, but such a step trusts the link alone, and Streamlit took them out of it on leaving.
    """
    arrived, st.session_state[OPEN] = st.session_state.get(OPEN) != page, page
    context = get_script_run_ctx()
    if not arrived or context is None or not context.is_history_navigation:
        return
    kept = {key: st.session_state[key] for key in own_keys(page) if key in st.session_state}
    written = {key: params.write_all(value) for key, value in kept.items()}
    moved = {key: texts for key, texts in written.items() if texts != params.write_all(params.OWN[key].default)}
    if moved.keys() - st.query_params.keys():
        st.query_params.update(moved)
        st.rerun()


def notices() -> list[str]:
    """Sentences on what had to be changed, until the visitor changes something else, or trains what was missing."""
    setup, (about, sentences) = current(), st.session_state.get(NOTICES, ({}, []))
    if about != setup.values:
        return []
    return [sentence for sentence in sentences if not setup.trained or sentence != _NOT_IN_A_LINK["trained here"]]


def _rewrite_link(values: dict[str, Any]) -> None:
    """Put corrected values into the link and start again: only the link can seed a widget that is not there yet."""
    others = {key: st.query_params.get_all(key) for key in st.query_params if key not in params.PARAMS and key != "v"}
    ours = {key: params.write_all(value) for key, value in values.items() if value != params.PARAMS[key].default}
    st.query_params.from_dict({**others, **ours})
    st.rerun()


def limit(key: str, high: int) -> int:
    """Keep a page's own number within what this run has, before its widget exists; returns the widget's default.

    Args:
        key: a parameter of the page.
        high: the largest value that makes sense now, such as the last layer.
    """
    param = params.PARAMS[key]
    if not isinstance(param, Whole):
        raise TypeError(f"{key} is not a Whole")
    default = min(param.default, high)
    if value(key) > high:
        if key in st.session_state:
            st.session_state[key] = high
        elif key in st.query_params:
            sentence = f"The link's {key}={value(key)} is moved to the last, {high}."
            st.session_state[NOTICES] = (current().values, [*notices(), sentence])
            st.query_params[key] = params.write(high)
            st.rerun()
    return default
