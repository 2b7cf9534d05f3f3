import pytest

from runner.errors import UsageError
from runner.tomo.choice import Choice, Parameter, parse_choice

METHODS = {
    "none": {},
    "sorting": {
        "size": Parameter(default=21, least=3, most=99, odd=True),
        "snr": Parameter(default=3.0, least=1),
    },
}


@pytest.mark.parametrize(
    "given",
    [
        "sorting:size=31",
        " sorting : size = 31 ,",
        {"method": "sorting", "size": 31},
        "sorting:size=31,snr=3.0",
        {"method": "sorting", "size": 31, "snr": 3},
        Choice(name="sorting", values=(("size", 31), ("snr", 3.0))),
    ],
)
def test_every_way_to_write_it_is_the_same(given):
    choice = parse_choice("rings", given, METHODS)
    assert choice == Choice(name="sorting", values=(("size", 31), ("snr", 3.0)))
    assert str(choice) == "sorting:size=31,snr=3.0"
    assert parse_choice("rings", str(choice), METHODS) == choice


def test_a_method_without_parameters_is_its_name():
    assert str(parse_choice("rings", "none", METHODS)) == "none"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("sortng", "did you mean sorting? choose one of none, sorting"),
        ("", "choose one of none, sorting"),
        (3, "write NAME or NAME:PARAMETER=NUMBER"),
        ({"size": 3}, "choose one of none, sorting"),
        ("sorting:siize=3", "rings sorting has no parameter 'siize'; did you mean size? it has size, snr"),
        ("none:size=3", "it has none"),
        ("sorting:size=4", "rings sorting: size '4' is not allowed; give an odd number from 3 to 99"),
        ("sorting:size=3.0", "an odd number from 3 to 99"),
        ("sorting:size", "an odd number from 3 to 99"),
        ({"method": "sorting", "size": True}, "an odd number from 3 to 99"),
        ("sorting:snr=0.5", "a number from 1 up"),
        ("sorting:snr=nan", "a number from 1 up"),
        ("sorting:snr=much", "a number from 1 up"),
    ],
)
def test_what_is_not_allowed_is_told_with_what_is(given, said):
    with pytest.raises(UsageError) as refusal:
        parse_choice("rings", given, METHODS)
    assert said in str(refusal.value)
