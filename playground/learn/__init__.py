"""What leads a student through the app, as data: lessons and exercises."""
