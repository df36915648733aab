"""What came out: a store of results, where they come from, and the published numbers beside them."""
