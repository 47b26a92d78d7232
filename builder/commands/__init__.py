"""The builder's own commands, one module each: a command loads what it needs and nothing else."""
