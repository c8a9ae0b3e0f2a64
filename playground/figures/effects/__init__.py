"""What follows from changes of a computation, as pictures."""
