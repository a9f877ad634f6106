"""The commands of the CLI, a module each; only the one that is called is imported."""
