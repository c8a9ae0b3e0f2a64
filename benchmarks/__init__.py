"""Speed and size, each beside what you would use instead: `python -m benchmarks`."""
