"""What takes a while to measure on the page What if: kept for everybody, and filled while somebody looks."""
