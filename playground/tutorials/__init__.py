"""The five tutorials that the playground brings to life: what they say, where they disagree, and what went wrong."""
