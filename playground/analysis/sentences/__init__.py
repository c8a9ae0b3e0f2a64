"""Sentences beside each other: which are alike, by which tokens and words, and from which layer on."""
