"""What a network reads: graphs prepared for it, in batches."""
