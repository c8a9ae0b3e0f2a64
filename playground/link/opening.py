"""Opens a link of the playground outside of the app."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

from playground.errors import InputError, PlaygroundError, PretrainedError, UnavailableError
from playground.limits import LINK_FIELDS
from playground.link import link_values, old_links, params, pinned_texts
from playground.link.linked_view import LinkedView
from playground.link.read_link import is_known_version, read_link, version_of
from playground.link.run_choices import choose_tokenizer, chosen_sentence, drawn_rows
from playground.pages import PAGES, page_at
from playground.runs.budget import MAX_PARAMETERS
from playground.text import Tokenizer, build_tokenizer, split_sentences
from playground.text.wording import join_words, quote_text
from playground.weights import checkpoint

Weights = Literal["minilm", "random"]

MAX_LINK = 200_000
"""Characters, in a file too; all texts of a link at their longest take less than half of them, every byte escaped."""

_KNOWN = {"v", "embed", "embed_options", "only", pinned_texts.MARKER, *pinned_texts.PINNED_KEYS, *params.PARAMS}
"""What a link may hold without a word on it."""


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
    return open_texts(*split_link(link), weights=weights, max_parameters=max_parameters)


def open_texts(
    page: str,
    texts: Mapping[str, list[str]],
    *,
    weights: Weights | None = None,
    max_parameters: int = MAX_PARAMETERS,
) -> LinkedView:
    """As `open_link`, of a link's page and its texts by parameter, as `split_link` gives them."""
    texts = old_links.rename_focus(texts, page)
    version = version_of(texts)
    if not is_known_version(version):
        raise InputError(
            f"Another version of the playground made this link, v={quote_text(version, longest=12)}; this one knows "
            f"v={old_links.OTHER_WEIGHTS} and v={link_values.VERSION}."
        )
    if weights is not None:
        texts = {key: each for key, each in texts.items() if key != "b_weights"} | {"weights": [weights]}
    has_checkpoint = weights != "random" or checkpoint.minilm_path() is not None

    def settle(values: Mapping[str, Any], from_link: Collection[str]) -> tuple[dict[str, Any], list[str]]:
        return link_values.settle(values, from_link, has_checkpoint=has_checkpoint)

    reading = read_link(texts)
    asked = {key: param.default for key, param in params.PARAMS.items()} | dict(reading.values)
    settled, reasons = settle({key: asked[key] for key in params.SHARED}, reading.values)
    pinned_values, from_link, wrong = pinned_texts.read_pinned(texts, settled)
    pinned = None
    if pinned_values is not None:
        pinned_values, unfit = settle(pinned_values, from_link)
        try:
            pinned = view_of(page, asked | pinned_values, max_parameters=max_parameters)
        except PlaygroundError as error:  # nothing else of the link is lost by it
            unfit.append(str(error))
        wrong += [pinned_texts.of_pinned(reason) for reason in unfit]
    notices = [*reading.sentences, *reasons, *wrong, *_describe(page, texts, settled, reading.means_other_weights)]
    names_tokens = settled["text"] == params.DEFAULT_TEXT or bool(reading.values.keys() & {"query", "key"})
    return replace(view_of(page, asked | settled, notices, pinned, max_parameters), names_tokens=names_tokens)


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
    return name if name in PAGES else next(iter(PAGES)), texts


def view_of(
    page: str,
    values: Mapping[str, Any],
    notices: Iterable[str] = (),
    pinned: LinkedView | None = None,
    max_parameters: int = MAX_PARAMETERS,
) -> LinkedView:
    """The view of settled values, which are of all parameters; raises as `open_link`."""
    sentences = split_sentences(values["text"]).sentences
    if not sentences:
        raise InputError("The text is empty, so there is nothing to look at.")
    if values["weights"] not in ("minilm", "random"):
        origin = "a network trained" if values["weights"] == "trained here" else "a weights file opened"
        raise UnavailableError(
            f"This link shows {origin} in somebody's browser, which no link can carry: "
            'open_link(link, weights="random") shows random weights of its shape.'
        )
    tokenizer = _find_tokenizer(values, sentences)
    n_rows = drawn_rows(values, tokenizer.vocab_size, is_random=values["weights"] == "random")
    config = link_values.model_config(values, 0 if values["tokenizer"] == "vectors" else n_rows)
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


def _find_tokenizer(values: Mapping[str, Any], sentences: tuple[str, ...]) -> Tokenizer:
    """The tokenizer of the link, and a check that the trained weights are there where it needs them."""
    name, vocab_size = choose_tokenizer(values)
    if values["weights"] == "random" and name != "wordpiece":
        return build_tokenizer(name, vocab_size, sentences)
    folder = checkpoint.minilm_path()
    if folder is None:
        raise PretrainedError(
            f"This link needs the trained encoder, which is not on this machine: {checkpoint.HOW_TO_GET_MINILM}."
        )
    return checkpoint.read_minilm_tokenizer(folder)


def _describe(
    page: str, texts: Mapping[str, list[str]], values: Mapping[str, Any], means_other_weights: bool
) -> list[str]:
    """What has to be known about a link, beside what was changed in it."""
    sentences = list(split_sentences(values["text"]).notes)
    unknown = [quote_text(key, longest=24) for key in texts if key not in _KNOWN]
    if unknown:
        some = unknown[:3] + ([f"{len(unknown) - 3} more"] if len(unknown) > 3 else [])
        sentences.append(f"The playground knows no {join_words(some)}; nothing depends on it here.")
    if page_at(page).own_networks:
        sentences.append(f"The page {page} shows other networks too; this is the encoder of its sidebar.")
    if means_other_weights:
        is_random = values["weights"] == "random"
        other = old_links.describe_other_weights(
            page, seed=values["seed"], is_random=is_random, has_random_decoder=is_random
        )
        sentences += [other] if other else []
    return sentences
