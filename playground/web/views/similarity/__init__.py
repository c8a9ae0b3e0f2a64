"""The page Similarity: which of many sentences are alike, and which tokens and words make two of them so."""
