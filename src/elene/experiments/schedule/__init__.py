"""Which runs there are to make, and making them one after the other within a budget of time."""
