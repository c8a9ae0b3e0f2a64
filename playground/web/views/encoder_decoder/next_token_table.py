"""The likeliest next tokens after one position of the target."""

import numpy as np
import pandas as pd
import streamlit as st

from playground.web.choices import widgets
from playground.web.choices.setup import is_random
from playground.web.session import caches
from playground.web.session.caches import PairKey
from playground.web.shared import panels
from playground.web.shared.page_end import fragment
from playground.web.views.encoder_decoder.pair_key import load_run, parameter_of

N_ROWS = 10


@fragment
def show_next_tokens(pair: PairKey) -> None:
    """The tokens that the logits of one target position rank highest, with their probabilities."""
    run = load_run(pair)
    st.caption(
        "The decoder's last vector gives every token a score, its *logit*. "
        "The softmax turns the logits of one target position into probabilities; the best come first. "
        + (
            "Training raises the probabilities of the tokens that do follow. Until then the order is chance."
            if is_random(pair.weights)
            else "[BOS] marks the beginning, [EOS] the end. Whether [EOS] follows the last token is learned, too."
        )
    )
    last = run.target.n_real - 1
    position = widgets.whole(parameter_of(pair, "position"), "target token, by its position", high=last)
    probabilities, vocabulary = run.next_words(position), caches.tokenizer(pair.target)
    best = np.argsort(-probabilities, kind="stable")[:N_ROWS]
    st.text(f"So far: {' '.join(run.target.tokens[: position + 1])}")
    panels.show_table(
        "encdec_next",
        pd.DataFrame(
            {
                "next token": [vocabulary.id_to_token(int(token)) for token in best],
                "probability, %": 100 * probabilities[best],
                "logit": run.logits[position, best],
                "times an even guess": probabilities.size * probabilities[best],
            },
            index=pd.RangeIndex(1, len(best) + 1, name="place"),
        ),
        height="content",
        column_config={
            "probability, %": st.column_config.NumberColumn(format="%.3g"),
            "logit": st.column_config.NumberColumn(format="%.3f"),
            "times an even guess": st.column_config.NumberColumn(format="× %.3g"),
        },
    )
    reading = f"An even guess gives each of the {probabilities.size:,} tokens {100 / probabilities.size:.3g} %."
    if position < last:
        token = run.target.ids[position + 1]
        place = 1 + int((probabilities > probabilities[token]).sum())
        whose = "The translation" if pair.is_example else "Your target"
        st.text(f"{whose} goes on with: {run.target.tokens[position + 1]}")
        reading += f" The token that it goes on with has {100 * probabilities[token]:.3g} %, place {place:,}."
    st.caption(reading)
