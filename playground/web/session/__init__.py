"""What a session holds, and what all sessions share."""
