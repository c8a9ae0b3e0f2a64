"""One token's residual stream: which parts write to it, and what an output head reads off it at every depth."""

import math

import numpy as np
import pandas as pd
import streamlit as st

from playground.analysis.stream_sources import TokenStream, follow_token, read_depths
from playground.charts.markdown import escape_markdown, quote_place, quote_token
from playground.figures import attribution as figures
from playground.runs.encoder_run import Run
from playground.training.network import Tagger
from playground.web.choices.setup import Setup, current_setup, is_random
from playground.web.session import trained_slot
from playground.web.session.services import services
from playground.web.shared import panels
from playground.web.shared.pinning import say_present_alone
from playground.web.views.attention import attribution_cache

LIKELIEST = 3
"""Answers that are named at each depth."""


def draw_stream(run: Run, token: int) -> None:
    """What has written to a token, how much of it is in its final vector, and what it would be read as on the way."""
    name = quote_place(run.tokens, token)
    with panels.explain_errors():
        found = follow_token(attribution_cache.split_stream(current_setup().run_key, run.config.n_layers), token)
    say_present_alone("the stream")
    if not np.isfinite(found.shares).all():
        st.markdown(f"The vector of {name} is 0, or has left the range of 32-bit floats: it has no shares.")
    else:
        _draw_shares(found, name, run)
    st.markdown(f"**What would {name} be read as on its way?**")
    _draw_reading(run, token, name)


def _draw_shares(found: TokenStream, name: str, run: Run) -> None:
    names, kinds = [source.name for source in found.sources], [source.kind for source in found.sources]
    first = int(np.argmax(found.shares))
    st.markdown(
        f"The vector of {name} that leaves the encoder is a sum of what {len(names)} sources wrote. The largest share "
        f"comes from **{names[first]}**: {found.shares[first]:.0%}."
    )
    table = pd.DataFrame(
        {
            "source": names,
            "length as written": found.written,
            "length of what is left": found.kept,
            "share of the final vector": found.shares,
        }
    )
    written = np.flatnonzero(np.isfinite(found.written))
    left, right = st.columns(2, gap="medium")
    with left:
        panels.bars(
            "stream_written",
            figures.contributions(
                [names[i] for i in written],
                [kinds[i] for i in written],
                found.written[written],
                title="length as written",
                signed=False,
            ),
            caption=f"**What is written to {name}**, from the embeddings on: the L2 norm of each part, as it is added. "
            "Biases of norms are no part of it." + _describe_norms(run),
            alt="Bars: length of what each source writes to one token",
            table=lambda: table,
        )
    with right:
        panels.bars(
            "stream_shares",
            figures.contributions(names, kinds, found.shares, title="share of the final vector"),
            caption="**What is left of it at the end.** A part's share is its projection on the final vector x: part · "
            "x / ‖x‖², each norm at the scale of this run. Shares add up to 1; a part below 0 points away from x.",
            alt="Bars: share of each source in the final vector of one token",
        )


def _describe_norms(run: Run) -> str:
    """What happens to a part after it was written."""
    if not run.config.residual:
        return " Without residual connections, only what the last feed-forward network wrote arrives."
    if run.config.norm != "none" and run.config.norm_placement == "post":
        return " Every norm that follows rescales all that was written before it."
    return ""


def _draw_reading(run: Run, token: int, name: str) -> None:
    """The likeliest answers of the trained network's own head at every depth, or why there are none."""
    setup = current_setup()
    with panels.explain_errors():
        network = _find_tagger(setup.weights)
        if network is None:
            st.markdown(_why_unread(setup))
            return
        with services().turns.take():
            probabilities = read_depths(run, token, network.encoder, network.head)
        labels = trained_slot.find_network(setup.weights).labels
    if not np.isfinite(probabilities).all():
        st.markdown("The head's scores are no finite numbers here: the network's numbers have left fp32's range.")
        return
    order = np.argsort(-probabilities, axis=1, kind="stable")[:, :LIKELIEST]
    likeliest = labels[order[-1, 0]]
    settled = next(depth for depth in range(len(order)) if (order[depth:, 0] == order[-1, 0]).all())
    st.markdown(
        f"At the end the network answers {quote_token(likeliest)} ({probabilities[-1, order[-1, 0]]:.0%}). From depth "
        f"{settled} on, this is the head's first choice."
    )
    rows = {
        f"choice {place + 1}": [
            f"{labels[answer]}  {probabilities[depth, answer]:.0%}" for depth, answer in enumerate(order[:, place])
        ]
        for place in range(order.shape[1])
    }
    entropies = [-sum(p * math.log2(p) for p in row if p > 0) for row in probabilities.tolist()]
    with st.container(key="stream_reading"):
        panels.show_table(
            "stream_reading_table",
            pd.DataFrame({"depth": range(len(order)), **rows, "entropy, bits": entropies}),
            hide_index=True,
        )
        learnt = (
            "Neither encoder nor head has learnt anything yet"
            if is_random(setup.weights)
            else "It has learnt to read the last depth alone: early rows say what it would make of them, and not all "
            "that they hold (Belrose et al. 2023)"
        )
        st.caption(
            f"**The network's own output head, at every depth of {name}** (the *logit lens*, nostalgebraist 2020). A "
            f"depth counts the blocks passed: 0 is the embeddings. {learnt}."
        )


def _find_tagger(weights: str) -> Tagger | None:
    """The network trained in this session, after training or before, if it is an encoder with an output head."""
    network = trained_slot.network_on_device(weights) if trained_slot.is_trained_network(weights) else None
    return network if isinstance(network, Tagger) else None


def _why_unread(setup: Setup) -> str:
    """Why no output head can read this encoder's vectors."""
    here = "A network that you train on the Training page has one, and is read here at every depth."
    if trained_slot.is_trained_network(setup.weights):
        title = escape_markdown(trained_slot.find_network(setup.weights).task.title)
        return (
            f"The network that learnt “{title}” writes with its decoder. Its encoder has no output head: none of its "
            "vectors was ever turned into an answer."
        )
    if setup.weights == "minilm":
        return (
            "As no word. This encoder was trained to make one vector of a whole sentence, and to place sentences that "
            "mean the same near each other. It has no output head that turns a token's vector into words. The nearest "
            f"rows of its token table would be a guess, as no training asked for them. {here}"
        )
    if setup.weights == "random":
        return f"As nothing yet: random weights have learnt no words, and there is no output head. {here}"
    return f"As no word: your file's encoder has no output head here, which would turn its vectors into words. {here}"
