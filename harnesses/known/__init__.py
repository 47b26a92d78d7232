"""One module for each harness, with its ``HARNESS``: read from Harbor 0.25, OpenEnv 0.10 and the packages."""
