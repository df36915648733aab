"""One run: a network from a spec, trained, tested and interruptible; or what takes a network's place."""
