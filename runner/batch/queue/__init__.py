"""What one asks a batch system from outside of its jobs: to run one, to tell of it, to end it."""
