"""One token's way through a layer, stage by stage."""
