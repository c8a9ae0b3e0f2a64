"""Sentences beside each other: which are alike, by which tokens and words, and from which layer on."""

from playground.analysis import sentences
from playground.web.shared import panels
from playground.web.views.similarity import explore_similarity

panels.draw_heading("How alike are the sentences' vectors?")
explore_similarity()
panels.code_behind(
    "similarity",
    sentences.pool,
    sentences.sentence_similarity,
    sentences.token_contributions,
    sentences.leave_words_out,
    sentences.map_depths,
)
