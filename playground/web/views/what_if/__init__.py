"""The page What if: changes of the computation, what followed, which parts matter, and what can be left out."""
