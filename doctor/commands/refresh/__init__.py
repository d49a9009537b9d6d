"""New releases for the matrix: the user's package index is read, and the user's own rows are written.

configuration -> web -> listing -> wheel -> rows -> overlay. Nothing here is imported by a diagnosis.
"""
