"""What a visitor takes away: pictures and numbers of charts, and the data of a whole run."""
