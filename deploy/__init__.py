"""What writes the locks; beside it, the files that run copies of the app behind nginx."""
