from runner.tomo.reconstruct import filters, reconstructor
from runner.tomo.reconstruct.gridding import quality
from runner.tomo.reconstruct.iterative import methods
from runner.tomo.settings import allowed


def test_the_choices_are_those_of_the_engine():
    assert tuple(reconstructor.METHODS) == allowed.METHODS
    assert tuple(methods.ITERATIONS) == allowed.ITERATIVE
    assert methods.NONNEGATIVE == allowed.NONNEGATIVE
    assert tuple(quality.QUALITIES) == allowed.QUALITIES
    assert tuple(filters.WINDOWS) == allowed.WINDOWS
    assert filters.PADDINGS == allowed.PADDINGS
