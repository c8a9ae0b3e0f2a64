"""The parameters of an encoder–decoder's two halves, counted by formula beside the built model."""

import pandas as pd
import streamlit as st

from playground.accounting import LABELS, Term, count_encoder_decoder
from playground.web.session import caches
from playground.web.session.caches import PairKey
from playground.web.shared import panels
from playground.web.shared.model_costs import count_built_parameters
from playground.web.views.encoder_decoder.pair_key import load_run

COMPONENTS = ("embeddings", "self-attention", "cross-attention", "feed-forward", "norms", "output map")


def show_parameters(pair: PairKey) -> None:
    """Parameters of both halves by component, and whether formulas and built model agree."""
    config, tgt_vocab_size = load_run(pair).config, caches.tokenizer(pair.target).vocab_size
    count, built = count_encoder_decoder(config, tgt_vocab_size), count_built_parameters(config, tgt_vocab_size)
    totals = count.by(_half)
    sums = count.by(lambda term: (_component(term), _half(term)))
    table = pd.DataFrame(
        {half: [sums.get((component, half), 0) for component in COMPONENTS] for half in totals},
        index=pd.Index(COMPONENTS, name="component"),
    )
    table["together"] = table.sum(axis=1)
    table.loc["total"] = table.sum()
    panels.show_table(
        "encdec_parameters",
        table,
        height="content",
        column_config={name: st.column_config.NumberColumn(format="localized") for name in (*totals, "together")},
    )
    if built != count.total:
        st.error(f"The formulas add up to {count.total:,} parameters, but the built model holds {built:,}: report it.")
        return
    third_norm = "" if config.norm == "none" else " and a third norm"
    source = "" if tgt_vocab_size == config.vocab_size else f" instead of {config.vocab_size:,}"
    st.caption(
        f":material/check: formulas: {count.total:,} = the model's `numel()`, built as shapes without memory: "
        f"{built:,}. Decoder less encoder is {totals['decoder'] - totals['encoder']:,}. Each of the decoder's "
        f"{config.n_layers} blocks has a second attention{third_norm}; its table has {tgt_vocab_size:,} "
        f"tokens{source}. The *output map* turns a vector into a score for every target token. The paper shares its "
        "matrix with the embeddings; here it has its own."
    )


def _half(term: Term) -> str:
    return "output map" if term.name == "fc" else term.name.partition(".")[0]


def _component(term: Term) -> str:
    if term.component == "attention":
        return "cross-attention" if ".cross_attn." in term.name else "self-attention"
    return "output map" if term.name == "fc" else LABELS[term.component]
