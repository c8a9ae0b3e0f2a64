"""What pages share that show the pinned settings beside the present ones."""
