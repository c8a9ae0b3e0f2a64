"""A network that has learnt which character comes next writes on, character by character."""

from dataclasses import dataclass
from itertools import islice

import numpy as np
import pandas as pd
import streamlit as st
import torch
from streamlit.delta_generator import DeltaGenerator

from playground.figures.training import next_tokens
from playground.model import causal_mask
from playground.training.after.generate import generate, next_token_probabilities
from playground.training.after.trained_network import TrainedNetwork
from playground.training.network import Tagger
from playground.training.seeding import generator
from playground.training.tasks import Data
from playground.web.choices import widgets
from playground.web.choices.setup import current_value
from playground.web.session import caches, trained_slot
from playground.web.shared import panels
from playground.web.shared.markdown import quote_token
from playground.web.shared.page_end import fragment
from playground.web.views.training.plan import questions

LENGTH = 300
"""Characters that it writes."""

TOGETHER = 5
"""Characters that are computed in one turn, and shown together."""

BEST = 10
"""Characters in the chart of what may come next."""

WRITTEN = "_training_written"
"""Session key of (the wish, the ids of the prompt and of what was written)."""


@dataclass(frozen=True)
class Wish:
    """What a text depends on: the network, how the text begins, how to draw, and the draws."""

    network: str
    prompt: str
    temperature: float
    top_k: int
    seed: int


@fragment
def draw() -> None:
    """Ask for a beginning, and write on."""
    trained = trained_slot.shelf().trained
    if trained is None or not trained.task.predicts_next:
        return
    st.subheader("What does it write?")
    wish, made = _wish(trained), questions(trained.recipe)
    ids = _read(trained, wish.prompt)
    if not trained.recipe.causal:
        st.caption("It has learnt with the next character in sight, and never had to guess: do not expect much.")
    pressed = st.button("Write", key="training_write", icon=":material/edit:")
    page = st.empty()
    with panels.explain_errors():
        if pressed:
            st.session_state[WRITTEN] = (wish, _write(trained, made, ids, wish, page))
        known, ids = st.session_state.get(WRITTEN, (None, []))
        if known == wish:
            page.code(made.text(ids), language=None, wrap_lines=True)
            _what_next(trained, made, ids, wish)


def _wish(trained: TrainedNetwork) -> Wish:
    prompt = widgets.text("training_prompt", "How it begins")
    left, right = st.columns(2)
    with left:
        temperature = widgets.size("training_heat", "temperature: 0 takes the likeliest, 1 draws what it believes")
    with right:
        top_k = widgets.whole("training_top_k", "top-k: draw from the k likeliest, 0 is from all", high=20)
    return Wish(trained.key, prompt, temperature, top_k, current_value("seed"))


def _read(trained: TrainedNetwork, prompt: str) -> list[int]:
    """The prompt's ids, with a sentence on what is none of its characters."""
    batch = trained.tokenizer.encode_batch([prompt])
    places = zip(batch.offsets[0], batch.unknown[0], strict=True)
    unknown = dict.fromkeys(prompt[begin:end] for (begin, end), is_unknown in places if is_unknown)
    if unknown:
        names = ", ".join(quote_token(character) for character in unknown)
        st.caption(f"In the text that it has learnt from there was no {names}: it reads [UNK] instead.")
    ids: list[int] = batch.ids[0].tolist()
    return ids


def _network(trained: TrainedNetwork) -> Tagger:
    if not isinstance(trained.network, Tagger):
        raise TypeError("a decoder says what is next in another way")
    return trained.network


def _write(trained: TrainedNetwork, made: Data, ids: list[int], wish: Wish, page: DeltaGenerator) -> list[int]:
    """Write on, in sight; a few characters take a turn to compute, so that other visitors get theirs in between."""
    characters = generate(
        _network(trained),
        ids,
        LENGTH,
        temperature=wish.temperature,
        top_k=wish.top_k,
        generator=generator(wish.seed, "writing"),
        window=trained.recipe.length,
    )
    for _ in range(0, LENGTH, TOGETHER):
        with caches.TURNS.take():
            ids = [*ids, *islice(characters, TOGETHER)]
        page.code(made.text(ids), language=None, wrap_lines=True)
    return ids


def _what_next(trained: TrainedNetwork, made: Data, ids: list[int], wish: Wish) -> None:
    """What the next character would be drawn from."""
    window = torch.tensor([ids[-trained.recipe.length :]])
    with caches.TURNS.take(), torch.inference_mode():
        logits = _network(trained)(window, causal_mask(window.shape[1], window.device))[0, -1]
    tokens, probabilities = next_token_probabilities(logits, wish.temperature, wish.top_k)
    names = [made.labels[i] for i in tokens[:BEST].tolist()]
    shares = probabilities[:BEST].numpy().astype(np.float32)
    panels.chart(
        "training_next",
        next_tokens(names, shares),
        caption=f"The character after these would be drawn from {len(tokens)}, the likeliest on top. A low temperature "
        "and a small k leave little but the first; temperature 1 and k = 0 show what the network itself believes.",
        alt=f"Probabilities of the next character; the likeliest, {names[0]}, has {shares[0]:.0%}.",
    )
    panels.numbers("training_next", lambda: pd.DataFrame({"character": names, "probability": shares}))
