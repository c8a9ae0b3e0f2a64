"""What a link of the playground means, without a page: its parameters, frozen defaults, repairs, and what it shows."""
