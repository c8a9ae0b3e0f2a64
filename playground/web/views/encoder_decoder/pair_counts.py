"""What an encoder–decoder's two halves hold, counted by formula beside the built model."""

import pandas as pd
import streamlit as st

from playground.accounting import LABELS, Term, count_encoder_decoder
from playground.config import ModelConfig
from playground.model import EncoderDecoder
from playground.web.views.parameters import skeleton

COMPONENTS = ("embeddings", "self-attention", "cross-attention", "feed-forward", "norms", "output map")


def halves(config: ModelConfig, tgt_vocab_size: int) -> None:
    """Parameters of both halves, and the line in which formulas and built model have to agree."""
    count = count_encoder_decoder(config, tgt_vocab_size)
    shapes = EncoderDecoder(skeleton(config), tgt_vocab_size, seed=None)
    built = sum(parameter.numel() for parameter in shapes.parameters())
    totals = count.by(_half)
    sums = count.by(lambda term: (_component(term), _half(term)))
    table = pd.DataFrame(
        {half: [sums.get((component, half), 0) for component in COMPONENTS] for half in totals},
        index=pd.Index(COMPONENTS, name="component"),
    )
    table["together"] = table.sum(axis=1)
    table.loc["total"] = table.sum()
    st.dataframe(
        table,
        key="encdec_parameters",
        height="content",
        column_config={name: st.column_config.NumberColumn(format="localized") for name in (*totals, "together")},
    )
    if built != count.total:
        st.error(f"The formulas add up to {count.total:,} parameters, but the built model holds {built:,}: report it.")
        return
    tables = "" if tgt_vocab_size == config.vocab_size else f" instead of {config.vocab_size:,}"
    st.caption(
        f":material/check: formulas: {count.total:,} = the model's `numel()`, built as shapes without memory: "
        f"{built:,}. Decoder less encoder is {totals['decoder'] - totals['encoder']:,}: a second attention and a third "
        f"norm in each of its {config.n_layers} blocks, and a table of {tgt_vocab_size:,} words{tables}. "
        "The output map scores every target word; the paper shares its matrix with "
        "the embeddings, here it has its own."
    )


def _half(term: Term) -> str:
    return "output map" if term.name == "fc" else term.name.partition(".")[0]


def _component(term: Term) -> str:
    if term.component == "attention":
        return "cross-attention" if ".cross_attn." in term.name else "self-attention"
    return "output map" if term.name == "fc" else LABELS[term.component]
