"""What followed from the changes: for vectors, attention, sentences and answers."""
