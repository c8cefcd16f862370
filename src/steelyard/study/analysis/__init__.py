"""Analysis of study results: ranks, comparisons, published values, findings.

Knows rows, cell maps and theory paths; it reads no files.
"""
