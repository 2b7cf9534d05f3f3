"""A page about a reconstruction, for the person at the beamline: one file that needs nothing else."""
