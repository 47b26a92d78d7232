"""Training, rewards, gates and evaluation."""
