"""How to read the page What if, and what its numbers do not prove."""

import streamlit as st

HOW_TO_READ = """
**An effect says what the rest of the model does without a part**, in this sentence, by this measure. Many heads can be
taken out at little cost ([Michel et al. 2019](https://arxiv.org/abs/1905.10650);
[Voita et al. 2019](https://arxiv.org/abs/1905.09418)). That is no proof that they do nothing. Where two parts do the
same, each alone seems useless, and without both the model fails. *Take heads out* leaves out many at once and shows it.

**Zero is an unusual value.** What comes after a head has hardly ever read it in training. Some of the effect may be
that surprise, rather than what the head carried. A head's mean over the tokens is closer to what it usually writes.

**A pattern alone explains little.** Very different attention weights can lead to the same output
([Jain & Wallace 2019](https://arxiv.org/abs/1902.10186)). That does not make weights meaningless: what counts as an
explanation has to be said first, and then tested
([Wiegreffe & Pinter 2019](https://arxiv.org/abs/1908.04626)). To change a weight and look at what follows is one test.

**A patch shows where a difference can be brought in**, not where the model first needs it. The shares of several places
need not add up to 100 %: the vector of one token already holds a part of what another's holds.
"""


def draw_how_to_read() -> None:
    """How to read effects, patterns and patches, with the papers that argue about it, to be opened."""
    with st.container(key="whatif_how_to_read"), st.expander("How to read this, and what it does not prove"):
        st.markdown(HOW_TO_READ)
