"""Slices that explain what was measured: found step by step, with the projector and its adjoint.

Each method looks for the slices whose projections differ least from the sinograms, within a disc about the
axis that holds all that the detector sees, or more where the object is wider, and begins at zero:

- `sirt` steps down the gradient, scaled by the lengths of rays and by how often a pixel is seen;
- `fista` does the same with momentum, which needs far fewer steps;
- `cgls` takes conjugate gradients of the plain sum of squares: the fewest steps, but it cannot keep values
  from being negative.

    engine              groups of slices, one after another
    gradient, cgls      the steps
    rays                projector, adjoint and disc
    sums                arithmetic on several slices, by several threads
    memory              decided before

References
----------
J. Gilbert, "Iterative methods for the three-dimensional reconstruction of an object from projections",
J. Theor. Biol. 36 (1972) 105; J. Gregor and T. Benson, "Computational analysis and improvement of SIRT", IEEE
Trans. Med. Imaging 27 (2008) 918; A. Beck and M. Teboulle, "A fast iterative shrinkage-thresholding algorithm
for linear inverse problems", SIAM J. Imaging Sci. 2 (2009) 183; A. Bjorck, *Numerical Methods for Least
Squares Problems*, 1996, section 7.4.
"""
