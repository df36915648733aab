"""Files: readers, one module a format, and writing in chunks that can be resumed."""
