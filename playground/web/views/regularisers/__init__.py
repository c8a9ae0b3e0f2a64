"""The page Regularisers."""
