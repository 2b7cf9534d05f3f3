"""Removal of rings: of what one column of a sinogram has in common that its neighbours do not have."""
