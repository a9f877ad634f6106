"""Results of other tools: read from their files, kept beside one's own, compared by the same tests."""
