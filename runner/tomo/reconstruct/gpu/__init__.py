"""The engine's twin on a GPU: the tables and the three steps of :mod:`..gridding`, for CUDA.

Slices go through the steps in groups of up to 32, one thread of a warp for each. Spectra and image are made
by CuPy's transforms (`steps`). In between, `spread.cu` adds the spectra onto the grid, one tile of it in each
block of threads: nothing is added atomically, and every cell sums its points in an order that never changes.
Which stretch of which line crosses which tile is found once for a scan (`pieces`). What a detector counted
becomes line integrals before all that, with the CPU's very bits (`integration`).

    engine        groups of slices: up to the GPU, through the steps, and back, two groups at a time
    device        all that the process holds of a GPU: streams, memory, compiled kernels
    integration   from counts to line integrals
    steps         the first and the third step
    pieces        stretches of lines, by tiles
    layout        how many slices at once and how large a tile: decided from sizes alone
    integrate.cu  line integrals
    spread.cu     the second step

Only `device` knows CuPy. The others call what it gives them, with NumPy's names for what is done to arrays:
the tests run them with NumPy, and the kernels compiled for the CPU.
"""
