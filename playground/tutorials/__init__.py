"""The five tutorials behind the playground: what they teach, where they disagree, and their mistakes made again."""
