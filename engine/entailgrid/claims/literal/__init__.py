"""Literals of a text: how they are read, compared and recomputed. The public names are in `claims.literals`."""
