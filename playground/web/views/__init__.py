"""What the pages show, one module or folder a page."""
