"""How the ranks of one start find rank 0: a private file, or one MPI broadcast. Both carry a ticket."""
