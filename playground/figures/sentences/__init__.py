"""Sentences beside each other as pictures."""
