"""What this machine brings: a container engine, the images tasks stand on, and the scripts that make both."""
