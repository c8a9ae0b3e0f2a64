"""Changes of the computation on every page: the chips that switch them, and what a page is called that they reach."""
