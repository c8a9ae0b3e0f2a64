"""The page Exercises: the list, one exercise, its answer, and what a visitor has found."""
