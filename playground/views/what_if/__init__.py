"""What if: what followed from changes, which parts matter, where a difference sits, how many heads can go."""
