"""What followed from a change: of vectors, of attention, of sentences, and which parts of a model matter to them."""
