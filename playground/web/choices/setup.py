"""The visitor's choices as one `Setup`, which every run is made from; the pinned ones, notices.

The pinned settings lie in the session as one plain value, bound to no widget. As with the focus, `open_page` reads
them from the link once, and `correct_address` writes them there: `b_` and the parameter's key, where they differ from
the present ones. `pinned=true` stands for them where they don't differ at all.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from playground.config import ModelConfig
from playground.language.family import nearest_shipped
from playground.link import english, params, query
from playground.link.changes import FittedChanges, MadeChange, fit_changes
from playground.link.params import SHARED
from playground.link.query import (
    MARKER,
    PINNED_KEYS,
    choose_tokenizer,
    chosen_sentence,
    drawn_rows,
    longest_sentence,
    of_pinned,
    pinned_texts,
    read_pinned,
)
from playground.model.changes import Change
from playground.text import Batch, Sentences, split_sentences
from playground.training.trained_network import TrainedNetwork
from playground.web.session import caches, trained_slot, uploaded_files
from playground.web.session.networks import AFTER, BEFORE
from playground.web.session.result_cache import EVERYBODY
from playground.web.session.services import services
from playground.web.session.uploaded_files import UploadedWeights, current_upload
from playground.web.session.weights_cache import MINILM, RANDOM, WeightsId, this_session
from playground.weights.recognise import RecognisedWeights

_PINNED = "_pinned"
"""Session key of the pinned values; None where nothing is pinned, nothing at all before the link was read."""

Settle = Callable[[Mapping[str, Any], Collection[str]], tuple[dict[str, Any], list[str]]]
"""Makes values go together: (values, keys that a link has set) → values, a sentence for each change that needs one."""


def pinned_values() -> Mapping[str, Any] | None:
    """The pinned settings, by the sidebar's keys; None where nothing is pinned."""
    values: Mapping[str, Any] | None = st.session_state.get(_PINNED)
    return values


def pin(values: Mapping[str, Any]) -> None:
    """Pin settings instead of those that are pinned, if any; `values` are of all the sidebar's keys."""
    st.session_state[_PINNED] = {key: values[key] for key in SHARED}


def unpin() -> None:
    """Pin nothing."""
    st.session_state[_PINNED] = None


def settle_pinned(texts: Mapping[str, list[str]], now: Mapping[str, Any], settle: Settle) -> list[str]:
    """Make the pinned settings go together, which a session takes from its first link's texts.

    Returns:
        A sentence for each thing that is wrong with the link, and for each change that needs one.
    """
    from_link: set[str] = set()
    sentences: list[str] = []
    if _PINNED not in st.session_state:
        st.session_state[_PINNED], from_link, sentences = read_pinned(texts, now)
    values = pinned_values()
    if values is None:
        return sentences
    settled, reasons = settle(values, from_link)
    pin(settled)
    return sentences + [of_pinned(reason) for reason in reasons]


def write_pinned(now: Mapping[str, Any]) -> dict[str, list[str]]:
    """The link's texts for what is pinned, beside the present values; an empty list takes a parameter out."""
    nothing: dict[str, list[str]] = {name: [] for name in (MARKER, *PINNED_KEYS)}
    values = pinned_values()
    if values is None:
        return nothing
    return nothing | pinned_texts(values, now)


OPEN_PAGE = "_open"
"""Session key of the page that was drawn last, by its path."""

_SETUP = "_setup"
"""Session key of the `Setup` that was built last."""

_PINNED_SETUP = "_pinned_setup"
"""Session key of the `Setup` of what is pinned."""

_FOCUS_TEXT = "_focus_text"
"""Session key of the text in which query and key were chosen; the defaults are those of the default text."""

_BY_PAGE = "_focus_by_page"
"""Session key of whether query and key are the page's choice rather than the visitor's or a link's."""

_NOTICES = "_notices"
"""Session key of (the `Setup` that the notices are about, the page they were made for, the notices)."""


@dataclass(frozen=True)
class Setup:
    """Everything that a run depends on.

    Two setups that are equal give the same runs. Neither files nor networks lie in it: a session keeps its last setup,
    and must not keep their memory with it.
    """

    values: Mapping[str, Any]
    """The sidebar's values, by their keys."""
    weights: WeightsId
    """`minilm`, `random`, the SHA-256 of the upload, or the key of the trained network or of the small English's."""
    own_tokenizer: str = ""
    """Key of the upload's own tokenizer; empty where the sidebar's reads the text."""
    listed: tuple[str, ...] = ()
    """Sentences of a page's own that take the place of the text's, however many they are."""
    chosen: Mapping[str, Any] | None = None
    """The values that were chosen, where nobody has trained such an encoder and `values` are the nearest one's."""

    def __getitem__(self, key: str) -> Any:
        return self.values[key]

    @cached_property
    def text(self) -> Sentences:
        """The typed text as sentences, with notes on what had to change."""
        return Sentences(self.listed, ()) if self.listed else split_sentences(self["text"])

    @cached_property
    def text_key(self) -> caches.TextKey:
        """What the tokens depend on; there has to be a sentence."""
        if self.is_english:
            hidden = None if self["mask"] == english.NO_MASK else (self.sentence, int(self["mask"]))
            return caches.TextKey("english", 0, longest_sentence(self.values), self.text.sentences, hidden)
        chosen, vocab_size = choose_tokenizer(self.values)
        trained = self.trained_network
        tokenizer = trained.key if trained else self.own_tokenizer or chosen
        return caches.TextKey(tokenizer, vocab_size, longest_sentence(self.values), self.text.sentences)

    @property
    def batch(self) -> Batch:
        """The tokens, from the cache that all sessions share; there has to be a sentence."""
        return caches.tokenize(self.text_key)

    @property
    def sentence(self) -> int:
        """The sentence to look at, from 0."""
        return chosen_sentence(self.values, len(self.text.sentences))

    @property
    def trained_network(self) -> TrainedNetwork | None:
        """The network trained in this session, if its weights, trained or initial, are the chosen ones."""
        return trained_slot.shown_network(self["run"]) if self["weights"] == "trained here" else None

    @property
    def is_english(self) -> bool:
        """Whether it is an encoder of the small English."""
        return bool(self["weights"] == "english")

    @property
    def asked(self) -> Mapping[str, Any]:
        """The values that the visitor has chosen, whether the network is there or not."""
        return self.values if self.chosen is None else self.chosen

    @cached_property
    def config(self) -> ModelConfig:
        """The architecture, with the rows of the upload's token table, or else of one that is drawn."""
        if self.is_english:
            return english.spec_of(self.values).config
        known = recognised_weights(self.values)
        vocab_size = known.settings["vocab_size"] if known else 0
        return query.model_config(self.values, vocab_size or self.random_table_rows)

    @property
    def takes_vectors(self) -> bool:
        """Whether words are drawn as vectors; a trained network has a table of its own."""
        return self["tokenizer"] == "vectors" and self.trained_network is None and not self.is_english

    @property
    def random_table_rows(self) -> int:
        """Rows of a token table that is drawn for the tokenizer; 0 where the words are vectors themselves."""
        if self.takes_vectors:
            return 0
        n_tokens = caches.tokenizer(self.text_key).vocab_size
        return drawn_rows(self.values, n_tokens, is_random=self.weights == "random")

    @cached_property
    def changes(self) -> tuple[MadeChange, ...]:
        """The changes of the computation that the visitor has made, switched on or off."""
        made: tuple[MadeChange, ...] = self["do"].made
        return made

    @cached_property
    def switched_on(self) -> frozenset[Change]:
        """Those that are on, whether the sentence's run can have them or not."""
        return frozenset(made.change for made in self.changes if made.is_on)

    @cached_property
    def fitted_changes(self) -> FittedChanges:
        """Those that are on, divided by whether the sentence's run can have them; there has to be a sentence."""
        return self.fit_changes(self.sentence)

    def fit_changes(self, sentence: int) -> FittedChanges:
        """The changes that are on, divided by whether the run of a sentence, from 0, can have them.

        What names a token is made in the chosen sentence alone.
        """
        changes = [each for each in self.changes if sentence == self.sentence or each.change.names_no_token]
        if not any(change.is_on for change in changes):
            return FittedChanges()
        return fit_changes(changes, self.config, self.batch, sentence, causal=self["causal"])

    @property
    def run_key(self) -> caches.RunKey:
        """What the run of the sentence depends on, with the changes that it can have."""
        return self.untouched_key._replace(interventions=self.fitted_changes.applied)

    @property
    def untouched_key(self) -> caches.RunKey:
        """What the run of the sentence depends on that nothing changes."""
        return caches.RunKey(self.text_key, self.sentence, self.weights, self.config, self["seed"], self["causal"])


def current_setup() -> Setup:
    """The visitor's choices, as the sidebar has or is about to have them.

    The same object for as long as no choice changes, in the script, its fragments and callbacks: texts are split and
    vocabularies are built once. Its values are read once in a run of the script or of fragments. Callbacks come before
    that and change them, so they read anew. So does whoever has changed `do`, the one choice without a widget, which
    can change while a page is drawn.
    """
    run, kept = _run_in_progress(), _READ.get()
    if kept is not None and run is kept.run and kept.setup["do"] == st.session_state.get("do", kept.setup["do"]):
        return kept.setup
    setup = _built_once(_SETUP, setup_of({key: current_value(key) for key in params.SHARED}))
    _READ.set(None if run is None else _Reading(run, setup))
    return setup


class _Reading(NamedTuple):
    """The setup as a run has read it."""

    run: object
    setup: Setup


_READ: ContextVar[_Reading | None] = ContextVar("setup_read_in_this_run", default=None)


def _run_in_progress() -> object | None:
    """What is the same object throughout one run of the script or of a fragment; None in callbacks, and outside."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.cursors if context is not None and context.has_script_started else None


def pinned_setup() -> Setup | None:
    """The pinned settings, one object for as long as none of them changes; None where nothing is pinned."""
    values = pinned_values()
    return None if values is None else _built_once(_PINNED_SETUP, setup_of(values))


def _built_once(key: str, setup: Setup) -> Setup:
    """The session's setup of this key where it equals this one, which takes its place else."""
    built: Setup | None = st.session_state.get(key)
    if built == setup:
        return built
    st.session_state[key] = setup
    return setup


def last_setup() -> Setup | None:
    """What `current_setup` returned last: before the choices of a new run are read, what the page shows."""
    setup: Setup | None = st.session_state.get(_SETUP)
    return setup


def setup_of(values: Mapping[str, Any]) -> Setup:
    """A new setup with these values, and the weights that this session has for them."""
    if values["weights"] != "trained here":
        values = {**values, "run": ""}  # which the page Training alone looks at then
    own = own_weights(values)
    if isinstance(own, UploadedWeights):
        own_tokenizer = uploaded_files.own_tokenizer_key()
        return Setup(values, WeightsId(own.sha256, this_session()), own_tokenizer)
    if own is not None:
        key = own.initial_key if values["untrained"] and own.has_initial else own.key
        return Setup(values, WeightsId(key, this_session()))
    if values["weights"] == "english":
        return _english_setup(values)
    return Setup(values, MINILM if values["weights"] == "minilm" else RANDOM)


def _english_setup(values: Mapping[str, Any]) -> Setup:
    """A setup of the small English; where nobody has trained what was chosen, of the nearest one that is shipped."""
    spec = english.spec_of(values)
    if values["untrained"]:
        return Setup(values, WeightsId(BEFORE + spec.key, EVERYBODY))
    if services().networks.find(spec) is not None:
        return Setup(values, WeightsId(AFTER + spec.key, EVERYBODY))
    nearest = nearest_shipped(spec.config, causal=spec.causal)
    shown = {**values, **english.values_of(nearest)}
    return Setup(shown, WeightsId(AFTER + nearest.key, EVERYBODY), chosen=values)


def current_value(key: str) -> Any:
    """One choice: from its widget once there is one, and from the link before."""
    try:
        return st.session_state[key]
    except KeyError:
        texts = st.query_params.get_all(key)
    return query.read(key, texts)[0] if texts else default_value(key)


def default_value(key: str) -> Any:
    """The default of one choice beside the others: the small English has its own."""
    if key not in SHARED or key == "weights" or current_value("weights") != "english":
        return params.PARAMS[key].default
    deciding = (*english.DECIDING, "text")
    asked = {each: current_value(each) for each in deciding if each != key and _is_set(each)}
    return params.default_values({"weights": "english", **asked})[key]


def _is_set(key: str) -> bool:
    return key in st.session_state or key in st.query_params


def note_focus_text(text: str | None = None, *, by_page: bool = False) -> None:
    """Note that query or key were chosen in this text, or in the present one; by the visitor, a link, or the page."""
    st.session_state[_FOCUS_TEXT] = current_value("text") if text is None else text
    st.session_state[_BY_PAGE] = by_page


def is_focus_chosen() -> bool:
    """Whether the visitor or a link has chosen query and key: the page's own choice, and the defaults, are nobody's."""
    return not st.session_state.get(_BY_PAGE, True)


def focus_text() -> str:
    """The text in which query and key were chosen, by hand or by a link."""
    return str(st.session_state.get(_FOCUS_TEXT, params.DEFAULT_TEXT))


def is_focus_of_text() -> bool:
    """Whether query and key were chosen in the present text, rather than in one before it."""
    return bool(focus_text() == current_value("text"))


def own_weights(values: Mapping[str, Any]) -> UploadedWeights | TrainedNetwork | None:
    """The session's upload (`mine`) or trained network (`trained here`), where that is chosen and there is one."""
    if values["weights"] == "mine":
        return current_upload()
    return trained_slot.shown_network(values["run"]) if values["weights"] == "trained here" else None


def recognised_weights(values: Mapping[str, Any]) -> RecognisedWeights | None:
    """What the session's upload or trained network decides, if it is chosen and there is one."""
    own = own_weights(values)
    return own.recognised if own else None


def is_random(weights: str) -> bool:
    """Whether weights, as `Setup.weights`, are random: nothing was learned."""
    return weights == "random" or weights.startswith(("initial-", BEFORE))


def replace_notices(setup: Setup, sentences: Sequence[str], page: str | None = None) -> None:
    """Say what had to be changed in the visitor's choices while the setup equals this one.

    On the page with this path, or on the open one.
    """
    st.session_state[_NOTICES] = (setup, page or st.session_state[OPEN_PAGE], list(sentences))


def current_notices(setup: Setup) -> list[str]:
    """The notices about this setup on the open page."""
    about, page, sentences = st.session_state.get(_NOTICES, (None, None, []))
    return list(sentences) if about == setup and page == st.session_state[OPEN_PAGE] else []


def drop_outdated_notices(setup: Setup, page: str, *, arrived: bool) -> None:
    """Forget notices that were made for the page with this path and are about another setup than its present one.

    Where the visitor has `arrived` on the page just now, those of other pages are forgotten too: until then they may be
    for a page that a press has asked for, and a run of the page before comes in between.
    """
    about, about_page, _ = st.session_state.get(_NOTICES, (setup, page, []))
    is_outdated = about != setup if about_page == page else arrived
    if is_outdated:
        st.session_state.pop(_NOTICES, None)
