"""Text generation, character by character, by a network that has learnt the task “Next character”."""

from dataclasses import dataclass
from itertools import islice

import numpy as np
import pandas as pd
import streamlit as st
import torch
from streamlit.delta_generator import DeltaGenerator

from playground.charts.markdown import quote_token
from playground.figures.training import next_tokens
from playground.model import causal_mask
from playground.training.after.answers import generate, next_token_probabilities
from playground.training.after.trained_network import TrainedNetwork
from playground.training.network import Tagger
from playground.training.tasks import Data
from playground.training.tasks.task import generator
from playground.web.choices import widgets
from playground.web.choices.setup import current_value
from playground.web.session import trained_slot
from playground.web.session.experiments import validation_data
from playground.web.session.services import services
from playground.web.shared import panels
from playground.web.shared.page_end import fragment

LENGTH = 300
"""Characters that are generated."""

CHUNK = 5
"""Characters that are computed in one turn, and shown together."""

N_BARS = 10
"""Characters in the chart of what may come next."""

WRITTEN = "_training_written"
"""Session key of (the request, the ids of the prompt and of the generated text)."""


@dataclass(frozen=True)
class GenerationRequest:
    """All that a generated text depends on."""

    network: str
    prompt: str
    temperature: float
    top_k: int
    seed: int


@fragment
def text_generation() -> None:
    """Draw the prompt, the generated text, and the probabilities of the next character."""
    trained = trained_slot.session_slot().trained
    if trained is None or not trained.task.predicts_next:
        return
    st.header("What does it write?")
    request, data = _ask_for_request(trained), validation_data(trained.recipe)
    ids = _tokenize_prompt(trained, request.prompt)
    if not trained.recipe.causal:
        st.caption("It has learnt with the next character in sight, and never had to guess: do not expect much.")
    pressed = st.button("Write", key="training_write", icon=":material/edit:")
    page = st.empty()
    with panels.explain_errors():
        if pressed:
            st.session_state[WRITTEN] = (request, _generate(trained, data, ids, request, page))
        written, ids = st.session_state.get(WRITTEN, (None, []))
        if written is not None and written.network == request.network:
            page.code(data.text(ids), language=None, wrap_lines=True)
            if written != request:
                st.caption(
                    f"It was written at temperature {written.temperature:g}, top-k {written.top_k}, seed "
                    f"{written.seed}, after {quote_token(written.prompt)}. **Write** uses the present settings."
                )
            _next_character(trained, data, ids, request)


def _ask_for_request(trained: TrainedNetwork) -> GenerationRequest:
    prompt = widgets.text("training_prompt", "How it begins")
    with st.container(horizontal=True):
        temperature = widgets.size("training_heat", "temperature: 0 takes the likeliest, 1 draws what it believes")
        top_k = widgets.whole("training_top_k", "top-k: draw from the k likeliest, 0 is from all", high=20)
    return GenerationRequest(trained.key, prompt, temperature, top_k, current_value("seed"))


def _tokenize_prompt(trained: TrainedNetwork, prompt: str) -> list[int]:
    """The prompt's ids; a caption names the characters that the network does not know."""
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
        raise TypeError("a decoder generates in another way")
    return trained.network


def _generate(
    trained: TrainedNetwork, data: Data, ids: list[int], request: GenerationRequest, page: DeltaGenerator
) -> list[int]:
    """The ids with the generated ones, shown on the way; every few take a turn, so that other visitors get theirs."""
    characters = generate(
        _network(trained),
        ids,
        LENGTH,
        temperature=request.temperature,
        top_k=request.top_k,
        generator=generator(request.seed, "writing"),
        window=trained.recipe.length,
    )
    for _ in range(0, LENGTH, CHUNK):
        with services().turns.take():
            ids = [*ids, *islice(characters, CHUNK)]
        page.code(data.text(ids), language=None, wrap_lines=True)
    return ids


def _next_character(trained: TrainedNetwork, data: Data, ids: list[int], request: GenerationRequest) -> None:
    """Draw the probabilities of the next character."""
    window = torch.tensor([ids[-trained.recipe.length :]])
    with services().turns.take(), torch.inference_mode():
        logits = _network(trained)(window, causal_mask(window.shape[1], window.device))[0, -1]
    tokens, probabilities = next_token_probabilities(logits, request.temperature, request.top_k)
    names = [data.labels[i] for i in tokens[:N_BARS].tolist()]
    shares = probabilities[:N_BARS].numpy().astype(np.float32)
    panels.chart(
        "training_next",
        next_tokens(names, shares),
        caption=f"The character after these would be drawn from {len(tokens)}, the likeliest on top. A low temperature "
        "and a small k leave little but the first; temperature 1 and k = 0 show what the network itself believes.",
        alt=f"Probabilities of the next character; the likeliest, {names[0]}, has {shares[0]:.0%}.",
        table=lambda: pd.DataFrame({"character": names, "probability": shares}),
    )
