"""Test sets from documents: questions with answers and verbatim evidence, for imagined readers."""
