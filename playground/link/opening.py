"""Opens a link outside of the app: what it shows, as an object, with the places in it that are looked at."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

import numpy as np
from numpy.typing import NDArray

from playground.config import ModelConfig
from playground.errors import (
    InputError,
    PlaygroundError,
    PretrainedError,
    UnavailableError,
    list_nearest,
)
from playground.language.text import MASK
from playground.limits import LINK_FIELDS
from playground.link import english, params, query
from playground.link.changes import FittedChanges
from playground.link.kinds import Several
from playground.link.lab import Lab, Source
from playground.link.query import (
    choose_tokenizer,
    explain_cut,
    read_link,
    version_of,
)
from playground.link.state import AFTER, BEFORE, MINILM, RANDOM, State, WeightsId
from playground.model import Encoder
from playground.pages import MOVED, PAGES, page_at
from playground.runs.budget import MAX_PARAMETERS
from playground.runs.encoder_run import Run
from playground.text import Batch, Tokenizer, split_sentences
from playground.text.sentences import choose_pronoun
from playground.text.wording import quote_text
from playground.weights import checkpoint


@dataclass(frozen=True)
class Focus:
    """A place in one run: each number counts from 0 and is one that the run has."""

    layer: int
    head: int
    query: int
    """Position of the token that asks; padding asks nothing."""
    key: int
    """Position of the token that is asked; it may be padding."""

    def within(self, config: ModelConfig) -> "Focus":
        """The place with the nearest layer and head that a model has; query and key stay."""
        return replace(self, layer=min(self.layer, config.n_layers - 1), head=min(self.head, config.n_heads - 1))


def last_places(n_layers: int, n_heads: int, n_real: int, n_tokens: int) -> Focus:
    """The last layer, head, query and key of a run with so many layers, heads, tokens but padding, and tokens."""
    return Focus(n_layers - 1, n_heads - 1, max(n_real - 1, 0), n_tokens - 1)


def nearest_places(asked: Mapping[str, int], last: Focus) -> Focus:
    """What was asked for, by the fields of `Focus`, or the nearest that a run with these last places has."""
    return Focus(**{place: min(asked[place], limit) for place, limit in vars(last).items()})


def choose_pair(run: Run, focus: Focus, query: int | None = None) -> Focus:
    """The focus with a query and a key that say something about its head, where nobody has chosen any.

    Args:
        run: whose tokens and weights they are.
        focus: whose layer and head stay.
        query: one that stands already; else it is as of `choose_pronoun`, or the last word where there is none.

    Returns:
        With the word that the query looks at most as its key, itself aside. Punctuation is taken where there is no
        other word, and special tokens where there is nothing else.
    """
    is_word = [any(map(str.isalnum, token)) for token in run.tokens]
    ranks = np.where(run.padding, -1, np.where(run.special, 0, np.where(is_word, 2, 1)))
    if query is None:
        query = _choose_query(run, ranks)
    ranks = np.where(run.allowed_in(focus.layer)[query], ranks, -1)
    ranks[query] = min(ranks[query], 0)
    weights = np.nan_to_num(run.pattern(focus.layer)[focus.head, query], nan=-1.0)
    return replace(focus, query=query, key=int(np.where(ranks == ranks.max(), weights, -2.0).argmax()))


def _choose_query(run: Run, ranks: NDArray[np.int_]) -> int:
    if MASK in run.tokens:
        return run.tokens.index(MASK)
    pronoun = choose_pronoun([token if rank > 0 else "" for token, rank in zip(run.tokens, ranks, strict=True)])
    return int(np.flatnonzero(ranks == ranks.max())[-1]) if pronoun is None else pronoun


@dataclass(frozen=True, eq=False)
class LinkedView:
    """What a page shows: of a link, as `open_link` makes one, or of a visitor's session."""

    page: str
    """Its page's path, such as `attention`; `overview` for the first page."""
    lab: Lab
    """What computes it."""
    values: Mapping[str, Any]
    """Every parameter of the link's format by its key, as the page has it: a page's own choices too."""
    notices: tuple[str, ...] = ()
    """A sentence on each thing that the link asks for and can't be, or that has to be known about it."""
    names_tokens: bool = True
    """Whether query and key are the link's own, or those of the default text."""
    pinned: "LinkedView | None" = None
    """The settings that are pinned beside these."""

    @property
    def config(self) -> ModelConfig:
        """The architecture, with the rows of the token table; 0 where words are vectors drawn from the seed."""
        return self.lab.config

    @property
    def weights(self) -> str:
        """`minilm`, `english` (the small one) or `random`."""
        return str(self.values["weights"])

    @property
    def text(self) -> tuple[str, ...]:
        """The sentences; one at least."""
        return self.lab.text.sentences

    @property
    def sentence(self) -> int:
        """The one that is looked at, counted from 0."""
        return self.lab.sentence

    @property
    def seed(self) -> int:
        """Of random weights."""
        return int(self.values["seed"])

    @property
    def causal(self) -> bool:
        """Whether no token may look at later ones."""
        return bool(self.values["causal"])

    @property
    def tokenizer(self) -> Tokenizer:
        """What cuts the text into tokens."""
        return self.lab.tokenizer

    @property
    def batch(self) -> Batch:
        """The sentences as padded token ids; raises as `Tokenizer.encode_batch`."""
        return self.lab.batch

    @property
    def changes(self) -> FittedChanges:
        """The changes of the computation that the link makes, and why others of its changes cannot apply."""
        return self.lab.fitted_changes

    @cached_property
    def focus(self) -> Focus:
        """The layer, head, query and key that the link looks at: of this run, so the nearest that it has.

        Where the link names no token of its text, its run decides, as on the page; without a run, it is the nearest to
        the defaults.
        """
        n_real = len(self.batch.tokens[self.sentence])
        last = last_places(self.config.n_layers, self.config.n_heads, n_real, self.batch.ids.shape[1])
        asked = nearest_places(self.values, last)
        if self.names_tokens:
            return asked
        try:
            return choose_pair(self.run, asked)
        except PlaygroundError:
            return asked

    @property
    def encoder(self) -> Encoder:
        """The encoder with its weights, in eval mode, on the CPU; built when first asked for.

        Raises:
            TooLargeError: it has more than `max_parameters`; nothing was allocated.
            PretrainedError: the trained weights are not there any more.
            UnavailableError: nobody has trained this encoder of the small English here.
        """
        return self.lab.encoder

    @property
    def run(self) -> Run:
        """The forward pass of the sentence that is looked at, with the link's changes; arrays are read-only.

        It is computed when first asked for. `run.arrays` has every kept intermediate by its name, `run.pattern(layer)`
        the attention: (H, T, T).

        Raises:
            TooLargeError: the model, or what a run keeps of it, is too large.
            PretrainedError: the trained weights are not there any more.
        """
        return self.lab.run


Weights = Literal["minilm", "english", "random"]

MAX_LINK = 200_000
"""Characters, in a file too; all texts of a link at their longest take less than half of them, every byte escaped."""


def open_link(link: str, *, weights: Weights | None = None, max_parameters: int = MAX_PARAMETERS) -> LinkedView:
    """Rebuild what a link of the playground shows: architecture, text, weights, focus and run.

    What a link asks for and cannot be is replaced by the nearest that can, as on the page, and `notices` says so in a
    sentence. Nothing of a link is executed, nothing is downloaded, and no file is written.

    Args:
        link: a whole address such as `https://host/attention?d_model=64`, or what stands behind its question mark.
        weights: instead of those that the link names; "random" shows the shape of weights that are not there.
        max_parameters: of a model that is run; a larger one can be looked at without its run.

    Returns:
        A view whose `config`, `text`, `weights` and `notices` are there at once; `encoder`, `run` and `focus` are
        computed when they are first asked for. `pinned` is the pinned side, where the link has one that can be had.

    Raises:
        InputError: this is no link of a playground, its text is empty, or another version of the playground made it.
        UnavailableError: it shows a network that was trained, or a file that was opened, in somebody's browser.
        PretrainedError: it needs the trained encoder, which is not on this machine.
    """
    page, texts = split_link(link)
    view = open_texts(page, texts, weights=weights, max_parameters=max_parameters)
    before, mark, rest = re.split("[?#]", link.strip(), maxsplit=1)[0].partition("://")
    asked = (rest.partition("/")[2] if mark else before).rpartition("/")[2]
    if asked in ("", page, *MOVED) or "=" in asked:
        return view
    told = f"There is no page {quote_text(asked, longest=24)}: {list_nearest(asked, PAGES)}. {page} is opened instead."
    return replace(view, notices=(told, *view.notices))


def open_texts(
    page: str,
    texts: Mapping[str, list[str]],
    *,
    weights: Weights | None = None,
    max_parameters: int = MAX_PARAMETERS,
    source: Source | None = None,
) -> LinkedView:
    """As `open_link`, of a link's page and its texts by parameter, as `split_link` gives them; computed by `source`."""
    values, pinned_values, notices, names_tokens = _read_texts(page, texts, weights)
    pinned = None
    if pinned_values is not None:
        try:
            pinned = view_of(page, pinned_values, max_parameters=max_parameters)
        except PlaygroundError as error:  # nothing else of the link is lost by it
            notices = (*notices, query.of_pinned(str(error)))
    view = view_of(page, values, notices, pinned, max_parameters, source=source)
    notices = (*view.notices, *_describe_limits(view, texts))
    return replace(view, names_tokens=names_tokens, notices=notices)


@lru_cache(maxsize=256)
def check_link(link: str) -> tuple[str, tuple[str, ...]]:
    """Return a link's page, and a sentence on each thing that cannot be as the link asks; builds nothing.

    Whether its changes fit its tokens is not looked at. Raises as `open_link`.
    """
    page, texts = split_link(link)
    values, _, notices, _ = _read_texts(page, texts)
    _check_values(values, split_sentences(values["text"]).sentences)
    return page, notices


def _read_texts(
    page: str, texts: Mapping[str, list[str]], weights: Weights | None = None
) -> tuple[Mapping[str, Any], Mapping[str, Any] | None, tuple[str, ...], bool]:
    """Return settled values, those of the pinned side, sentences on both, and whether the link names its tokens."""
    texts = query.normalise(texts)
    version = version_of(texts)
    if version != query.VERSION:
        raise InputError(
            f"Another version of the playground made this link, v={quote_text(version, longest=12)}; this one knows "
            f"v={query.VERSION}."
        )
    if weights is not None:
        texts = {key: each for key, each in texts.items() if key != "b_weights"} | {"weights": [weights]}
    settle = partial(query.settle, has_checkpoint=weights != "random" or checkpoint.minilm_path() is not None)
    reading = read_link(texts)
    asked = params.default_values(reading.values) | dict(reading.values)
    settled, reasons = settle({key: asked[key] for key in params.SHARED}, reading.values)
    pinned, from_link, wrong = query.read_pinned(texts, settled)
    if pinned is not None:
        settled_pinned, unfit = settle(pinned, from_link)
        pinned = asked | settled_pinned
        wrong += [query.of_pinned(reason) for reason in unfit]
    notices = [*reading.sentences, *reasons, *wrong, *_describe(page, texts, settled)]
    repeated = {key: each for key, each in texts.items() if len(set(each)) > 1 and key in params.PARAMS}
    notices += [
        f"The link has {key} {len(each)} times; the last, {quote_text(each[-1], longest=24)}, counts."
        for key, each in repeated.items()
        if not isinstance(params.PARAMS[key], Several)
    ]
    names_tokens = settled["text"] == params.DEFAULT_TEXT or bool(reading.values.keys() & {"query", "key"})
    return asked | settled, pinned, tuple(notices), names_tokens


def _describe_limits(view: LinkedView, texts: Mapping[str, list[str]]) -> Iterator[str]:
    """A sentence on each place that the link names and its run has not, and on a sentence that is cut."""
    n_real = len(view.batch.tokens[view.sentence])
    last = last_places(view.config.n_layers, view.config.n_heads, n_real, view.batch.ids.shape[1])
    for place, limit in vars(last).items():
        if place in texts and view.values[place] > limit:
            asked = quote_text(texts[place][-1], longest=24)
            yield f"The link's {place}={asked} is not there: the last is {limit}, which is used instead."
    n_cut = view.batch.truncated[view.sentence]
    if n_cut:
        yield f"The sentence is cut after {n_real} tokens; {n_cut} more are left out. {explain_cut(view.values)}"


def split_link(link: str) -> tuple[str, dict[str, list[str]]]:
    """The page that a link is of, by its path, and the link's texts by parameter; raises InputError."""
    if not isinstance(link, str) or not link.strip():
        raise InputError("A link is a text such as https://host/attention?d_model=64, and there is none.")
    link = link.strip()
    if len(link) > MAX_LINK:
        raise InputError(f"This link has {len(link):,} characters; the playground writes none above {MAX_LINK:,}.")
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]*)://", link)
    if scheme is None and "?" not in link and "=" not in link:
        raise InputError(f"{quote_text(link)} is no link: paste all of it, from https:// on.")
    if scheme is not None and scheme[1].lower() not in {"http", "https"}:
        raise InputError(f"{quote_text(link)} is no link of the playground: those begin with https:// or http://.")
    try:
        if scheme is None:
            before, mark, query = link.partition("?")
            path, query = (before, query.partition("#")[0]) if mark else ("", before)
        else:
            path, query = urlsplit(link).path, urlsplit(link).query
        texts = parse_qs(query, keep_blank_values=True, max_num_fields=LINK_FIELDS)
    except ValueError as error:
        raise InputError(f"{quote_text(link)} can't be read as a link: it is damaged.") from error
    name = path.rstrip("/").rpartition("/")[2]
    if name in MOVED:
        name, key, value = MOVED[name]
        texts = {key: [value]} | texts
    return name if name in PAGES else next(iter(PAGES)), texts


def view_of(
    page: str,
    values: Mapping[str, Any],
    notices: Iterable[str] = (),
    pinned: LinkedView | None = None,
    max_parameters: int = MAX_PARAMETERS,
    listed: tuple[str, ...] = (),
    source: Source | None = None,
) -> LinkedView:
    """The view of settled values, which are of all parameters; raises as `open_link`.

    `listed` are sentences of a page's own that take the place of the text's, however many they are.
    """
    _check_values(values, listed or split_sentences(values["text"]).sentences)
    lab = Lab(State(values, _weights_of(values), listed=listed), source or Source(max_parameters))
    unfit = lab.fitted_changes.reasons.values()
    return LinkedView(page, lab, values, (*notices, *unfit), pinned=pinned)


def _weights_of(values: Mapping[str, Any]) -> WeightsId:
    if values["weights"] == "english":
        return WeightsId((BEFORE if values["untrained"] else AFTER) + english.spec_of(values).key)
    return MINILM if values["weights"] == "minilm" else RANDOM


def _check_values(values: Mapping[str, Any], sentences: tuple[str, ...]) -> None:
    """Raise as `open_link` if no view can be made of settled values and these sentences of their text."""
    if not sentences:
        raise InputError("The text is empty, so there is nothing to look at.")
    if values["weights"] == "english":
        return
    if values["weights"] not in ("minilm", "random"):
        origin = "a network trained" if values["weights"] == "trained here" else "a weights file opened"
        raise UnavailableError(
            f"This link shows {origin} in somebody's browser, which no link can carry: "
            'open_link(link, weights="random") shows random weights of its shape.'
        )
    needs_checkpoint = values["weights"] == "minilm" or choose_tokenizer(values)[0] == "wordpiece"
    if needs_checkpoint and checkpoint.minilm_path() is None:
        raise PretrainedError(
            f"This link needs the trained encoder, which is not on this machine: {checkpoint.HOW_TO_GET_MINILM}."
        )


def _describe(page: str, texts: Mapping[str, list[str]], values: Mapping[str, Any]) -> list[str]:
    """What has to be known about a link, beside what was changed in it."""
    sentences = [*split_sentences(values["text"]).notes, *query.name_unknown(texts)]
    if page_at(page).own_networks:
        sentences.append(f"The page {page} shows other networks too; this is the encoder of its sidebar.")
    return sentences
