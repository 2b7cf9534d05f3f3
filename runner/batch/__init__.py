"""What a batch system gave to the job, and the scripts with which it is asked."""
