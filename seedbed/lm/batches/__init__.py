"""Calls answered by batches: gathered, sent, looked after and taken up again by any process on the ledger."""
