"""The trained example: an English sentence, and the French that the shipped translator writes."""

import re
from dataclasses import replace

import streamlit as st
import torch

from playground.charts.markdown import quote_token
from playground.errors import InputError
from playground.runs.arrays import Array
from playground.runs.pair_run import PairRun
from playground.training.after.shipped_network import MADE_BY
from playground.training.after.trained_network import TrainedNetwork
from playground.training.tasks.task import BOS
from playground.training.tasks.translation import ENGLISH, WORDS, Translate
from playground.web.choices import widgets
from playground.web.choices.setup import current_value
from playground.web.session import caches
from playground.web.session.caches import PairKey, TextKey, find_translator
from playground.web.session.weights_cache import TRANSLATOR
from playground.web.shared import panels
from playground.web.shared.page_end import PageEndError
from playground.web.views.encoder_decoder.pair_key import load_run

TRANSLATE = Translate()

GENDER_HEAD = 1, 1
"""The layer and the head whose cross-attention looks at the noun where the decoder writes an article."""


def choose_example() -> PairKey:
    """The visitor's English sentence and its translation; ends the page where there is no sentence."""
    with panels.explain_errors():
        trained = find_translator()
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    with left:
        typed = widgets.text("encdec_example", "English sentence for the encoder")
    with right, st.container(horizontal=True):
        icon = ":material/casino:"
        st.button("Another", key="encdec_another", icon=icon, on_click=_draw_sentence, width="stretch")
        _list_words()
    words = _cut_words(typed)
    if not words:
        st.info("Type an English sentence: the encoder needs at least one word.")
        raise PageEndError
    with panels.explain_errors():
        pair = _translate_words(trained, words)
    _show_translation(load_run(pair), words)
    _explain_words(trained, words)
    _explain_training(trained)
    return pair


def find_example_pair() -> PairKey:
    """The pair that `choose_example` draws, without drawing it; raises InputError where there is no sentence."""
    words = _cut_words(current_value("encdec_example"))
    if not words:
        raise InputError("The Decoder page has no English sentence: the encoder needs at least one word.")
    return _translate_words(find_translator(), words)


def _cut_words(sentence: str) -> list[str]:
    return re.findall(r"[^\s.,;:!?\"]+", sentence.lower())


def _translate_words(trained: TrainedNetwork, words: list[str]) -> PairKey:
    """The pair of English words and what the translator writes."""
    source = TextKey(TRANSLATOR, 0, trained.config.max_len - 1, (" ".join(words),))
    (line,) = caches.generate_lines(TRANSLATOR, source, trained.config.max_len)
    target = replace(source, max_tokens=trained.config.max_len, sentences=(f"{BOS} {line}",))
    return PairKey(source, 0, target, 0, TRANSLATOR, trained.config, trained.recipe.seed)


def label_steps(pair: PairKey) -> tuple[str, ...]:
    """The decoder's steps: each token that it reads, and the token that it writes next."""
    run, vocabulary = load_run(pair), caches.tokenizer(pair.target)
    written = (vocabulary.id_to_token(int(token)) for token in run.logits.argmax(-1))
    return tuple(f"{read} → {write}" for read, write in zip(run.target.tokens, written, strict=True))


def count_aligned(pair: PairKey, pattern: Array) -> int | None:
    """In how many steps a cross-attention (Tt, Ts) looks most at the word that is translated there.

    The last step writes [EOS] and does not count. None where the translation is not the grammar's.
    """
    words = pair.source.sentences[0].split()
    if list(load_run(pair).target.tokens[1:]) != _translate(words):
        return None
    places = TRANSLATE.source_places(_as_ids(words))[0].numpy()
    return int((pattern[:-1].argmax(-1) == places).sum())


def _draw_sentence() -> None:
    """Put a sentence of the grammar into the field."""
    random = torch.Generator()
    random.seed()
    (ids,) = TRANSLATE.draw(find_translator().recipe, 1, random).tolist()
    st.session_state["encdec_example"] = " ".join(ENGLISH[i - TRANSLATE.first_id] for i in ids if i)


def _translate(words: list[str]) -> list[str] | None:
    """The grammar's translation; None where a word is unknown."""
    if not all(word in ENGLISH for word in words):
        return None
    symbols = TRANSLATE.symbols(0)
    return [symbols[i - TRANSLATE.first_id] for i in TRANSLATE.answers(_as_ids(words), 0)[0].tolist()]


def _as_ids(words: list[str]) -> torch.Tensor:
    return torch.tensor([[TRANSLATE.first_id + ENGLISH.index(word) for word in words]])


def _list_words() -> None:
    """Every word that the translator has learnt to read, and how they make a sentence."""
    with st.popover(f"Its {len(ENGLISH)} words", icon=":material/dictionary:", width="stretch"):
        lines = (f"**{kind}**: {' · '.join(word for word, _, _ in forms)}" for kind, forms in WORDS.items())
        st.markdown("  \n".join(lines))
        st.caption(
            "A phrase is *article (adjective) (colour) noun*. A sentence is a phrase, or two with a verb between them; "
            "a preposition adds one more."
        )


def _show_translation(run: PairRun, words: list[str]) -> None:
    """What the decoder writes, how sure it is, and what would be right."""
    written = run.target.tokens[1:]
    *certainty, at_end = (float(run.next_words(position).max()) for position in range(run.target.n_real))
    st.markdown(f"The decoder writes: **{' '.join(written)}**")
    least, word = min(zip([*certainty, at_end], [*written, "[EOS]"], strict=True))
    sentence = f"It is least sure of *{word}*, with a probability of {100 * least:.4g} %."
    right = _translate(words)
    if right is not None:
        is_right = list(written) == right
        sentence += " The translation is right." if is_right else f" By its grammar it would be: *{' '.join(right)}*."
    st.caption(sentence)


def _explain_words(trained: TrainedNetwork, words: list[str]) -> None:
    """What the translator has not learnt of this sentence."""
    unknown = [word for word in dict.fromkeys(words) if word not in ENGLISH]
    if unknown:
        st.info(
            f"The translator has not learnt {', '.join(map(quote_token, unknown))}: what it writes there is a guess. "
            "All that follows may be wrong too, as each step goes on from what was written before.",
            icon=":material/help:",
        )
    elif len(words) > trained.recipe.length:
        st.info(
            f"This sentence has {len(words)} words. The translator learnt from sentences of at most "
            f"{trained.recipe.length}: it may lose its place.",
            icon=":material/help:",
        )


def _explain_training(trained: TrainedNetwork) -> None:
    recipe, results = trained.recipe, trained.results
    st.caption(
        f"This encoder–decoder is small and trained. It learnt from {recipe.n_train:,} made-up sentences in "
        f"{results.kept_step:,} steps. Of {recipe.n_validation:,} other sentences it gets "
        f"{100 * results.validation_accuracy:.4g} % of the words right. Beside the words, two things had to be learnt. "
        "A French colour follows its noun. Articles, adjectives and colours take the noun's gender: *le petit chat "
        f"blanc*, but *la petite maison blanche*. `{MADE_BY}` trains it again; the Training page has its task, "
        f"*{trained.task.title}*. The sidebar changes nothing here."
    )
