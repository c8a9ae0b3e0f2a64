"""The page Attention: one head large, every head small, and why a query looks at a key."""
