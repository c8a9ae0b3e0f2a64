"""What can be read off a run's arrays: NumPy in, NumPy out."""
