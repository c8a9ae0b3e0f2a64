"""The tour: a newcomer's first five minutes, in a few steps on the app's own pages."""
