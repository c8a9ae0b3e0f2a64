"""A link outside of the app, opened as an object: `open_link`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal
from urllib.parse import parse_qs

import numpy as np
from numpy.typing import NDArray

from playground.config import ModelConfig
from playground.errors import InputError, PlaygroundError, PretrainedError, UnavailableError, list_nearest
from playground.language.text import MASK
from playground.limits import LINK_FIELDS
from playground.link import params, query
from playground.link.lab import Lab, Source
from playground.link.query import Texts
from playground.link.state import AFTER, BEFORE, MINILM, RANDOM, State, WeightsId
from playground.model import Encoder
from playground.pages import MOVED, PAGES
from playground.runs.budget import MAX_PARAMETERS
from playground.runs.encoder_run import Run
from playground.text import Batch, split_sentences
from playground.text.sentences import choose_pronoun
from playground.text.wording import quote_text, quote_word
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
        """Return the place with the nearest layer and head that a model has."""
        return replace(self, layer=min(self.layer, config.n_layers - 1), head=min(self.head, config.n_heads - 1))


def last_places(config: ModelConfig, n_real: int, n_tokens: int) -> Focus:
    """Return the last layer, head, query and key of a run; `n_real` tokens are no padding."""
    return Focus(config.n_layers - 1, config.n_heads - 1, max(n_real - 1, 0), n_tokens - 1)


def nearest_places(asked: Mapping[str, int], last: Focus) -> Focus:
    """Return what was asked for, by the fields of `Focus`, or the nearest up to the last places."""
    return Focus(**{place: min(asked[place], limit) for place, limit in vars(last).items()})


def choose_pair(run: Run, focus: Focus, query: int | None = None) -> Focus:
    """Return the focus with a query and a key that say something about its head.

    The query is the hidden word, a pronoun, or the last word, unless one is given; the key is the word that it attends
    to most.
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


@dataclass(frozen=True, eq=False, repr=False)
class LinkedView:
    """What a page shows: of a link, or of a visitor's session."""

    page: str
    """Its path, such as `attention`; `overview` for the first page."""
    lab: Lab
    values: Mapping[str, Any]
    """Every parameter of the link's format, a page's own too."""
    notices: tuple[str, ...] = ()
    """A sentence on each thing that the link asks for and can't be."""
    names_tokens: bool = True
    """Whether query and key are the link's own, or those of the default text."""
    pinned: "LinkedView | None" = None
    """The settings that are pinned beside these."""

    def __repr__(self) -> str:
        return f"{self.page}: {self.weights} on {quote_word(self.text[self.lab.sentence])}; notices: {self.notices}"

    @property
    def config(self) -> ModelConfig:
        """The architecture."""
        return self.lab.config

    @property
    def weights(self) -> str:
        """`minilm`, `english` or `random`."""
        return str(self.values["weights"])

    @property
    def text(self) -> tuple[str, ...]:
        """The sentences; one at least."""
        return self.lab.text.sentences

    @property
    def batch(self) -> Batch:
        """The sentences as padded token ids."""
        return self.lab.batch

    @property
    def encoder(self) -> Encoder:
        """The encoder, in eval mode, on the CPU; raises as `run`."""
        return self.lab.encoder

    @property
    def run(self) -> Run:
        """The sentence's forward pass: `arrays` by name, `pattern(layer)` (H, T, T).

        Raises:
            TooLargeError: the model or its run is too large.
            PretrainedError, UnavailableError: the trained weights are not here.
        """
        return self.lab.run

    @cached_property
    def last(self) -> Focus:
        """The last layer, head, query and key."""
        return last_places(self.config, len(self.batch.tokens[self.lab.sentence]), self.batch.ids.shape[1])

    @cached_property
    def focus(self) -> Focus:
        """The link's layer, head, query and key, or the nearest; the run decides if it names no token."""
        asked = nearest_places(self.values, self.last)
        if self.names_tokens:
            return asked
        try:
            return choose_pair(self.run, asked)
        except PlaygroundError:
            return asked


Weights = Literal["minilm", "english", "random"]

MAX_LINK = 200_000


def open_link(link: str, *, weights: Weights | None = None, max_parameters: int = MAX_PARAMETERS) -> LinkedView:
    """Rebuild what a link shows: architecture, text, weights, focus and run; `notices` tell of what was repaired.

    The link is a whole address, or what stands behind its question mark; nothing of it is executed or downloaded.
    `weights="random"` shows the shape of weights that are not here. A model above `max_parameters` is not run.

    Raises InputError for what is no link, UnavailableError or PretrainedError for weights that are not here.
    """
    page, texts = split_link(link)
    view = open_texts(page, texts, weights=weights, max_parameters=max_parameters)
    return replace(view, notices=(*_describe_page(link, texts), *view.notices))


def _describe_page(link: str, texts: Texts) -> Iterator[str]:
    path = re.sub(r"^[\w+.-]+://[^/]*", "", link.strip().partition("?")[0])
    name = "" if "=" in path else _last_part(path)
    if name in {*PAGES, *MOVED}:
        return
    if name and not path.endswith("/"):  # as the address of a folder does, in which the app may stand
        yield f"There is no page {quote_text(name, longest=24)}, so Start is shown: {list_nearest(name, PAGES)}."
    elif not texts:
        yield "The link names no page and no setting, so Start is shown with its defaults."


def open_texts(
    page: str,
    texts: Texts,
    *,
    weights: Weights | None = None,
    max_parameters: int = MAX_PARAMETERS,
    source: Source | None = None,
) -> LinkedView:
    """As `open_link`, of what `split_link` gives, computed by `source`."""
    texts, source = query.normalise(texts), source or Source(max_parameters)
    if weights is not None:
        texts = {key: each for key, each in texts.items() if key != "b_weights"} | {"weights": [weights]}
    has_checkpoint = weights != "random" or checkpoint.minilm_path() is not None
    values, pinned_values, notices = query.read_texts(texts, partial(query.settle, has_checkpoint=has_checkpoint))
    notices += split_sentences(values["text"]).notes
    pinned = None
    if pinned_values is not None:
        try:
            pinned = _view_of(page, values | pinned_values, source)
        except PlaygroundError as error:  # nothing else of the link is lost by it
            notices.append(query.of_pinned(str(error)))
    view = _view_of(page, values, source)
    notices += [*view.lab.fitted_changes.reasons.values(), *_describe_limits(view, texts)]
    names_tokens = values["text"] == params.DEFAULT_TEXT or not {"query", "key"}.isdisjoint(texts)
    return replace(view, pinned=pinned, names_tokens=names_tokens, notices=tuple(notices))


def _describe_limits(view: LinkedView, texts: Texts) -> Iterator[str]:
    for place, limit in vars(view.last).items():
        if place in texts and view.values[place] > limit:
            asked = quote_text(texts[place][-1], longest=24)
            yield f"The link's {place}={asked} is not there: the last is {limit}, which is used instead."
    yield from describe_cut(view.lab)


def describe_cut(lab: Lab) -> Iterator[str]:
    """Yield a sentence on what is cut off, if the sentence is too long."""
    if n_cut := lab.batch.truncated[lab.sentence]:
        n_tokens, reason = len(lab.batch.tokens[lab.sentence]), query.explain_cut(lab.values)
        yield f"The sentence is cut after {n_tokens} tokens; {n_cut} more are left out. {reason}"


def split_link(link: str) -> tuple[str, dict[str, list[str]]]:
    """Return the page that a link is of, by its path, and the link's texts by parameter; raises InputError."""
    link = link.strip() if isinstance(link, str) else ""
    head, mark, rest = link.partition("?")
    scheme = re.match(r"([\w+.-]+)://", head)
    if not mark and "=" in head and scheme is None:
        head, rest = "", head
    if not (mark or rest or scheme) or (scheme is not None and scheme[1].lower() not in {"http", "https"}):
        raise InputError(f"{quote_text(link)} is no link of the playground, such as https://host/attention?d_model=64.")
    if len(link) > MAX_LINK:
        raise InputError(f"This link has {len(link):,} characters; the playground writes none above {MAX_LINK:,}.")
    try:
        texts = parse_qs(rest.partition("#")[0], keep_blank_values=True, max_num_fields=LINK_FIELDS)
    except ValueError as error:
        raise InputError(f"{quote_text(link)} can't be read as a link: it is damaged.") from error
    name = _last_part(head)
    if name in MOVED:
        name, more = MOVED[name]
        texts = {key: [value] for key, value in more.items()} | texts
    return name if name in PAGES else next(iter(PAGES)), texts


def _last_part(path: str) -> str:
    return path.partition("#")[0].rstrip("/").rpartition("/")[2]


def _view_of(page: str, values: Mapping[str, Any], source: Source) -> LinkedView:
    """Return the view of settled values, which are of all parameters; raises as `open_link`."""
    if not split_sentences(values["text"]).sentences:
        raise InputError("The text is empty, so there is nothing to look at.")
    if values["weights"] == "english":
        weights = WeightsId((BEFORE if values["untrained"] else AFTER) + params.spec_of(values).key)
        return LinkedView(page, Lab(State(values, weights), source), values)
    if values["weights"] not in ("minilm", "random"):
        origin = "a network trained" if values["weights"] == "trained here" else "a weights file opened"
        raise UnavailableError(
            f"This link shows {origin} in somebody's browser, which no link can carry: "
            'open_link(link, weights="random") shows random weights of its shape.'
        )
    needs_checkpoint = values["weights"] == "minilm" or query.choose_tokenizer(values)[0] == "wordpiece"
    if needs_checkpoint and checkpoint.minilm_path() is None:
        raise PretrainedError(
            f"This link needs the trained encoder, which is not on this machine: {checkpoint.HOW_TO_GET_MINILM}."
        )
    weights = MINILM if values["weights"] == "minilm" else RANDOM
    return LinkedView(page, Lab(State(values, weights), source), values)
