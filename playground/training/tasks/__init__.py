"""What can be learnt here: made-up sequences whose answer is known exactly, and text."""
