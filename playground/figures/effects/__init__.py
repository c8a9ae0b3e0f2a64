"""What followed from changes of the computation, and which parts matter, as figures."""
