"""Direct Fourier reconstruction on a grid: the engine.

By the projection-slice theorem the spectrum of a projection lies on a line through the origin of the slice's
spectrum. The filtered backprojection sum is the Fourier sum over all these lines; it becomes a fast transform
once its points are spread onto a grid:

1. `spectra`: each row is padded, transformed, filtered, and shifted so that the axis is in the middle;
2. `spread`: each point of the spectra is added to the few cells around it, weighted by a window
   (`kaiser_bessel`); then the grid is transformed along v;
3. `image`: the grid is transformed along u, the window's trace is divided out, and slices are written.

Several slices go through this side by side and share all weights: the innermost axis of every buffer counts
slices, and kernels calculate with `lanes`, one number of each. Two real rows fill the real and the imaginary
parts of every transform (`rows`), both of the same slice.

    engine, pair, projector  buffers and threads (`crew`)
    spectra, spread, image   the steps                          project  the steps back
    fft, rows, runs, tiles   what the steps are made of
    lanes                    the numba type, and its arithmetic
    tables, fft_plan, kaiser_bessel, quality, memory    decided before, in plain NumPy

References
----------
J. D. O'Sullivan, "A fast sinc function gridding algorithm for Fourier inversion in computer tomography", IEEE
Trans. Med. Imaging 4 (1985) 200; F. Marone and M. Stampanoni, "Regridding reconstruction algorithm for
real-time tomographic imaging", J. Synchrotron Rad. 19 (2012) 1029.
"""
