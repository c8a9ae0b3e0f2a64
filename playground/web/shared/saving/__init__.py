"""What a visitor takes from a page: charts as pictures and numbers, tables as text."""
