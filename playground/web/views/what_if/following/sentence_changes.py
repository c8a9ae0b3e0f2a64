"""What became of the sentence's vector, and of how similar the text's sentences are."""

from itertools import combinations

import numpy as np
import pandas as pd
import streamlit as st

from playground.analysis.streams import cosine_between_tokens
from playground.analysis.vector_changes import Pooling, sentence_change, sentence_vector
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.web.choices import widgets
from playground.web.choices.setup import Setup, current_setup
from playground.web.session import caches
from playground.web.session.caches import RunKey
from playground.web.session.weights_cache import cache_by_weights
from playground.web.shared import panels
from playground.web.shared.markdown import quote_token

HELP = (
    "How the tokens' vectors become one for the sentence. mean: over its tokens. first token: its vector alone. mean "
    "with padding: a mistake that is often made, shown here on purpose."
)


def draw_sentences(run: Run, untouched: Run) -> None:
    """How far the sentence's vector has moved, and every pair of sentences before and after."""
    pooling: Pooling = widgets.choice("whatif_pooling", "One vector of the tokens' vectors", help_text=HELP)  # type: ignore[assignment]
    setup = current_setup()
    change = sentence_change(untouched, run, pooling)
    cosine, relative = float(change.cosine), float(change.relative)
    if np.isfinite(cosine) and np.isfinite(relative):
        st.markdown(
            f"The sentence's vector has moved by **{relative:.3g} of its length**. Its cosine with the untouched one "
            f"is **{cosine:.4f}**; 1 is the same direction."
        )
    else:
        st.markdown("The sentence's vector is 0, or has left the range of 32-bit floats: it has no direction.")
    st.caption(_describe_pooling(pooling, run, setup))
    if len(setup.text.sentences) > 1:
        _draw_pairs(setup, pooling)
    else:
        st.caption("With a second sentence in your text, a table here says how similar the two are before and after.")


def _draw_pairs(setup: Setup, pooling: Pooling) -> None:
    """The similarity of every two sentences before and after, the largest change first."""
    with panels.explain_errors():
        before, after = (_compare_all(setup, pooling, changed=changed) for changed in (False, True))
    pairs = list(combinations(range(len(before)), 2))
    old, new = (np.array([similarity[pair] for pair in pairs]) for similarity in (before, after))
    order = np.argsort(-np.nan_to_num(np.abs(new - old)), kind="stable")
    table = pd.DataFrame(
        {
            "sentences": [f"{one + 1} and {two + 1}" for one, two in pairs],
            "before": old,
            "after": new,
            "after − before": new - old,
        }
    ).iloc[order]
    number, signed = (st.column_config.NumberColumn(format=f"%{sign}.4f") for sign in ("", "+"))
    columns = {"before": number, "after": number, "after − before": signed}
    with st.container(key="whatif_pairs_of_sentences"):
        panels.show_table("whatif_similarities", table, hide_index=True, column_config=columns, height="content")
        own = [each for each in setup.fitted_changes.applied if not each.names_no_token]
        alone = f" Changes that name a token are made in sentence {setup.sentence + 1} alone." if own else ""
        st.caption(
            "**How similar are the sentences?** The cosine of their vectors, before and after, the largest change "
            f"first. The changes are made in every sentence.{alone}"
        )


def _compare_all(setup: Setup, pooling: Pooling, *, changed: bool) -> Array:
    """The cosine between every two sentences' vectors: (N, N); raises as `caches.run_sentence`."""
    vectors = []
    for sentence in range(len(setup.text.sentences)):
        key = setup.untouched_key._replace(sentence=sentence)
        if changed:
            key = key._replace(interventions=setup.fit_changes(sentence).applied)
        vectors.append(_find_vector(key, pooling))
    return cosine_between_tokens(np.stack(vectors))


@cache_by_weights
def _find_vector(key: RunKey, pooling: Pooling) -> Array:
    """A sentence as one vector, (D,); raises as `caches.run_sentence`."""
    return sentence_vector(caches.compute_run(key), pooling)


def _describe_pooling(pooling: Pooling, run: Run, setup: Setup) -> str:
    """What a way of pooling means for this model, and what goes wrong with it."""
    if pooling == "mean":
        trained = ", as this model was trained" if setup.weights == "minilm" else ""
        return f"The mean of all tokens' vectors, special ones included and padding left out{trained} (Sentence-BERT)."
    if pooling == "first token":
        wrong = (
            "This model's training never asked [CLS] to stand for the sentence."
            if setup.weights == "minilm"
            else "It can stand for the sentence only where training has asked for that."
        )
        sees = " With the causal mask it sees itself alone, whatever follows." if setup["causal"] else ""
        return f"The vector of the first token alone, {quote_token(run.tokens[0])}. {wrong}{sees}"
    n = int(run.padding.sum())
    padded = (
        f"Here {n} of {len(run.tokens)} vectors are padding's."
        if n
        else "This sentence has no padding here, so nothing is wrong: add a longer sentence to see it."
    )
    return (
        f"A mean that forgets the mask: padding counts as if it were words. {padded} The vector then depends on how "
        "long the other sentences are."
    )
