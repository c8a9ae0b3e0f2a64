"""Training on screen: tasks made on the fly, a recipe, a trainer that can be watched, and what it leaves behind."""
