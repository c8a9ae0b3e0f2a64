"""The page Lessons: the list, one lesson with what can be taken along, and the editor."""
