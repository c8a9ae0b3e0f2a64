"""Opens a link outside of the app: what it shows, as an object, with the places in it that are looked at."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

import numpy as np
from numpy.typing import NDArray

from playground.accounting import count_parameters
from playground.config import ModelConfig
from playground.errors import (
    InputError,
    PlaygroundError,
    PretrainedError,
    TooLargeError,
    UnavailableError,
    list_nearest,
)
from playground.language.finding import find_network
from playground.language.network import untrained
from playground.language.text import MASK, english_tokenizer, hide_word
from playground.limits import LINK_FIELDS
from playground.link import english, params, query
from playground.link.changes import FittedChanges, fit_changes
from playground.link.kinds import Several
from playground.link.query import (
    choose_tokenizer,
    chosen_sentence,
    drawn_rows,
    explain_cut,
    longest_sentence,
    read_link,
    version_of,
)
from playground.model import Encoder
from playground.pages import MOVED, PAGES, page_at
from playground.runs.budget import MAX_PARAMETERS
from playground.runs.encoder_run import Run, run
from playground.text import Batch, Tokenizer, build_tokenizer, split_sentences
from playground.text.nouns import choose_pronoun
from playground.text.wording import quote_text
from playground.weights import checkpoint
from playground.weights.store import NetworkStore, default_folder


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
    """What a link shows, rebuilt as its page has it; `open_link` makes one."""

    page: str
    """Its page's path, such as `attention`; `overview` for the first page."""
    config: ModelConfig
    """The architecture, with the rows of the token table; 0 where words are vectors drawn from the seed."""
    weights: Literal["minilm", "english", "random"]
    """`minilm`: the trained encoder; `english`: one that learnt the small English; `random`: drawn from the seed."""
    text: tuple[str, ...]
    """The sentences; one at least."""
    sentence: int
    """The one that is looked at, counted from 0."""
    seed: int
    causal: bool
    """Whether no token may look at later ones."""
    tokenizer: Tokenizer
    values: Mapping[str, Any]
    """Every parameter of the link's format by its key, as the page has it: a page's own choices too."""
    notices: tuple[str, ...] = ()
    """A sentence on each thing that the link asks for and can't be, or that has to be known about it."""
    names_tokens: bool = True
    """Whether query and key are the link's own, or those of the default text."""
    pinned: "LinkedView | None" = None
    """The settings that are pinned beside these."""
    max_parameters: int = MAX_PARAMETERS
    """Of a model that is built here."""

    @cached_property
    def batch(self) -> Batch:
        """The sentences as padded token ids; raises as `Tokenizer.encode_batch`."""
        batch = self.tokenizer.encode_batch(self.text, longest_sentence(self.values))
        if self.weights == "english" and self.values["mask"] != english.NO_MASK:
            return hide_word(batch, self.sentence, self.values["mask"])
        return batch

    @cached_property
    def changes(self) -> FittedChanges:
        """The changes of the computation that the link makes, and why others of its changes cannot apply."""
        changes = self.values["do"]
        if not changes:
            return FittedChanges()
        return fit_changes(changes.made, self.config, self.batch, self.sentence, causal=self.causal)

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

    @cached_property
    def encoder(self) -> Encoder:
        """The encoder with its weights, in eval mode, on the CPU; built when first asked for.

        Raises:
            TooLargeError: it has more than `max_parameters`; nothing was allocated.
            PretrainedError: the trained weights are not there any more.
            UnavailableError: nobody has trained this encoder of the small English here.
        """
        if self.weights == "minilm":
            return checkpoint.load("minilm")[0]
        if self.weights == "english":
            return self._english_encoder()
        n = count_parameters(self.config).total
        if n > self.max_parameters:
            raise TooLargeError(
                f"This model has {n:,} parameters, and at most {self.max_parameters:,} are built: it can be counted, "
                f"but not run; a larger max_parameters would build it."
            )
        return Encoder(self.config, self.seed).requires_grad_(False)

    def _english_encoder(self) -> Encoder:
        spec = english.spec_of(self.values)
        if self.values["untrained"]:
            return untrained(spec).encoder
        found = find_network(spec, NetworkStore(default_folder()))
        if found is None:
            raise UnavailableError(
                'Nobody has trained this encoder of the small English here: load("english", …) of '
                "playground.pretrained trains it and keeps it."
            )
        return found.encoder

    @cached_property
    def run(self) -> Run:
        """The forward pass of the sentence that is looked at, with the link's changes; arrays are read-only.

        It is computed when first asked for. `run.arrays` has every kept intermediate by its name, `run.pattern(layer)`
        the attention: (H, T, T).

        Raises:
            TooLargeError: the model, or what a run keeps of it, is too large.
            PretrainedError: the trained weights are not there any more.
        """
        return run(
            self.encoder,
            self.batch,
            self.sentence,
            seed=self.seed,
            causal=self.causal,
            interventions=self.changes.applied,
        )


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
) -> LinkedView:
    """As `open_link`, of a link's page and its texts by parameter, as `split_link` gives them."""
    values, pinned_values, notices, names_tokens = _read_texts(page, texts, weights)
    pinned = None
    if pinned_values is not None:
        try:
            pinned = view_of(page, pinned_values, max_parameters=max_parameters)
        except PlaygroundError as error:  # nothing else of the link is lost by it
            notices = (*notices, query.of_pinned(str(error)))
    view = view_of(page, values, notices, pinned, max_parameters)
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
) -> LinkedView:
    """The view of settled values, which are of all parameters; raises as `open_link`.

    `listed` are sentences of a page's own that take the place of the text's, however many they are.
    """
    sentences = listed or split_sentences(values["text"]).sentences
    _check_values(values, sentences)
    tokenizer = _find_tokenizer(values, sentences)
    n_rows = drawn_rows(values, tokenizer.vocab_size, is_random=values["weights"] == "random")
    config = query.model_config(values, 0 if values["tokenizer"] == "vectors" else n_rows)
    view = LinkedView(
        page=page,
        config=config,
        weights=values["weights"],
        text=sentences,
        sentence=chosen_sentence(values, len(sentences)),
        seed=values["seed"],
        causal=values["causal"],
        tokenizer=tokenizer,
        values=values,
        notices=tuple(notices),
        pinned=pinned,
        max_parameters=max_parameters,
    )
    unfit = view.changes.reasons.values()
    return replace(view, notices=(*view.notices, *unfit)) if unfit else view


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


def _find_tokenizer(values: Mapping[str, Any], sentences: tuple[str, ...]) -> Tokenizer:
    """Return the tokenizer of values that `_check_values` let pass."""
    if values["weights"] == "english":
        return english_tokenizer()
    name, vocab_size = choose_tokenizer(values)
    folder = checkpoint.minilm_path()
    if folder is None or (values["weights"] == "random" and name != "wordpiece"):
        return build_tokenizer(name, vocab_size, sentences)
    return checkpoint.read_minilm_tokenizer(folder)


def _describe(page: str, texts: Mapping[str, list[str]], values: Mapping[str, Any]) -> list[str]:
    """What has to be known about a link, beside what was changed in it."""
    sentences = [*split_sentences(values["text"]).notes, *query.name_unknown(texts)]
    if page_at(page).own_networks:
        sentences.append(f"The page {page} shows other networks too; this is the encoder of its sidebar.")
    return sentences
