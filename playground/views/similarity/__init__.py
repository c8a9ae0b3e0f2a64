"""The page Similarity: which of many sentences are alike, by which tokens and words, and from which layer on."""
