"""Why one token attends to another: a score taken apart by source, and what the weight then does."""
