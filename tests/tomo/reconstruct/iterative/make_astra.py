"""Make ``astra.npz``: what astra-toolbox 2.5.0 finds on the CPU, by its projector ``linear``.

pip install astra-toolbox==2.5.0 && python -m tests.tomo.reconstruct.iterative.make_astra
"""

from pathlib import Path

import astra
import numpy as np

from tests.tomo.reconstruct.iterative.discs import COLUMNS, sinogram, within

ANGLES = np.arange(72) * 2.5
ITERATIONS = {"SIRT": 100, "CGLS": 15}


def main():
    """Run both methods from zero, within the largest disc."""
    volume = astra.create_vol_geom(COLUMNS, COLUMNS)
    rays = astra.create_proj_geom("parallel", 1.0, COLUMNS, np.deg2rad(ANGLES))
    projector = astra.create_projector("linear", rays, volume)
    measured = astra.data2d.create("-sino", rays, sinogram(ANGLES))
    disc = astra.data2d.create("-vol", volume, within(COLUMNS / 2).astype(np.float32))
    found = {}
    for name, iterations in ITERATIONS.items():
        result = astra.data2d.create("-vol", volume, 0)
        config = astra.astra_dict(name)
        config |= {"ProjectorId": projector, "ProjectionDataId": measured, "ReconstructionDataId": result}
        config["option"] = {"ReconstructionMaskId": disc}
        astra.algorithm.run(astra.algorithm.create(config), iterations)
        found[name.lower()] = astra.data2d.get(result)
    np.savez_compressed(Path(__file__).parent / "astra.npz", **found)


if __name__ == "__main__":
    main()
