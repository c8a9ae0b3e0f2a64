"""What leads a student through the app: tours, as data."""
