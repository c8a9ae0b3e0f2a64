"""What a training run leaves behind: its network, its answers, and what it writes."""
