"""Which settings are best on the validation graphs."""
