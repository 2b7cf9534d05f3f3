import pytest


@pytest.fixture(scope="session")
def kernels(tmp_path_factory):
    """Where kernels are that were compiled for this CPU."""
    return tmp_path_factory.mktemp("kernels")
