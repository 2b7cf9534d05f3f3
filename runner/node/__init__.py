"""Facts about the machine that a rank runs on: GPUs, memory, network addresses, scratch folder."""
