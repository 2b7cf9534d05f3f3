"""Several scans, one after the other on one cluster: what fails does not stop the others."""
