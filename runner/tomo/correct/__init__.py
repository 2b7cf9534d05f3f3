"""From a scan's counts to line integrals."""
