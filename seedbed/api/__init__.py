"""Experiments from Python: `seedbed.run`, `seedbed.Experiment`, `seedbed.load`."""
