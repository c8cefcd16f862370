"""What the results of a study say: ranks, comparisons, findings, example rule sets.

Knows rows, cell maps and theory paths; it reads no files.
"""
