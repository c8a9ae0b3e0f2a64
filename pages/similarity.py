"""Sentences beside each other: which are alike, by which tokens and words, and from which layer on."""

from playground.analysis.effects import sentence_vectors
from playground.analysis.sentences import depth_map, left_out_words, token_contributions
from playground.web.shared import panels
from playground.web.views.similarity import compare_sentences

panels.heading("Which sentences mean the same?")
compare_sentences.explore_similarity()
panels.code_behind(
    "similarity",
    sentence_vectors.pool,
    sentence_vectors.sentence_similarity,
    token_contributions.token_contributions,
    left_out_words.leave_words_out,
    depth_map.map_depths,
)
