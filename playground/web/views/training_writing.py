"""A network that has learnt the task “Next character” writes, on the page Training."""

from collections.abc import Mapping
from itertools import islice

import streamlit as st
import torch

from playground.charts.markdown import quote_token
from playground.charts.scene import Scene
from playground.model import causal_mask
from playground.training.answers import generate, next_token_probabilities
from playground.training.network import Tagger
from playground.training.tasks.task import generator
from playground.training.trained_network import TrainedNetwork
from playground.views.training import show_next_characters
from playground.web.choices import widgets
from playground.web.choices.setup import current_value
from playground.web.session import own_models
from playground.web.session.experiments import validation_data
from playground.web.session.services import services
from playground.web.shared import panels
from playground.web.shared.page_end import fragment
from playground.web.shared.renderer import render
from playground.words import say

WRITTEN = "_training_written"
"""Session key of (the network's key, the ids of the prompt and of the generated text)."""

LENGTH = 300
"""Characters that are generated."""

CHUNK = 5
"""Characters that are computed in one turn, and shown together."""

N_BARS = 10
"""Characters in the chart of what may come next."""


@fragment
def write_text() -> None:
    """Draw the prompt, the generated text, and the probabilities of the next character, if the network writes."""
    trained = own_models.session_models().trained
    if trained is None or not trained.task.predicts_next or not isinstance(trained.network, Tagger):
        return
    st.header(say("training", "writes"))
    prompt = widgets.text("training_prompt", say("training", "writes.prompt"))
    with st.container(horizontal=True):
        temperature = widgets.size("training_heat", say("training", "writes.heat"))
        top_k = widgets.whole("training_top_k", say("training", "writes.top-k"), high=20)
    ids = _tokenize_prompt(trained, prompt)
    pressed = st.button(say("training", "writes.button"), key="training_write", icon=":material/edit:")
    page, data, length = st.empty(), validation_data(trained.recipe), trained.recipe.length
    with panels.explain_errors():
        if pressed:
            drawn = generate(
                trained.network,
                ids,
                LENGTH,
                temperature=temperature,
                top_k=top_k,
                generator=generator(current_value("seed"), "writing"),
                window=length,
            )
            for _ in range(0, LENGTH, CHUNK):
                with services().turns.take():  # every few, so that other visitors get theirs
                    ids = [*ids, *islice(drawn, CHUNK)]
                page.code(data.text(ids), language=None, wrap_lines=True)
            st.session_state[WRITTEN] = (trained.key, ids)
        key, written = st.session_state.get(WRITTEN, ("", []))
        if key == trained.key:
            page.code(data.text(written), language=None, wrap_lines=True)
            with services().turns.take(), torch.inference_mode():
                window = torch.tensor([written[-length:]])
                logits = trained.network(window, causal_mask(window.shape[1], window.device))[0, -1]
            tokens, probabilities = next_token_probabilities(logits, temperature, top_k)
            likeliest = zip(tokens[:N_BARS].tolist(), probabilities[:N_BARS].tolist(), strict=True)
            shares: Scene[Mapping[str, float]] = Scene({data.labels[i]: share for i, share in likeliest})
            render(show_next_characters(shares, len(tokens)), shares)


def _tokenize_prompt(trained: TrainedNetwork, prompt: str) -> list[int]:
    """The prompt's ids; a caption names the characters that the network does not know."""
    batch = trained.tokenizer.encode_batch([prompt])
    places = zip(batch.offsets[0], batch.unknown[0], strict=True)
    unknown = dict.fromkeys(prompt[begin:end] for (begin, end), is_unknown in places if is_unknown)
    if unknown:
        st.caption(say("training", "unknown", characters=", ".join(map(quote_token, unknown))))
    ids: list[int] = batch.ids[0].tolist()
    return ids
