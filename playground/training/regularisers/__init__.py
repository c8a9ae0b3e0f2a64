"""Tutorial C's ten regularisers, and experiments that measure what each does."""
