from __future__ import annotations

import pytest

from agents.forms.names import AliasIndex

INDEX = AliasIndex([("depart_date", "Departure date"), ("full_name", "Full name"), ("email", "Email, please")])


@pytest.mark.parametrize("name", ["depart_date", "departDate", "DEPART-DATE", "Departure date", "departure  DATE!"])
def test_a_field_is_found_by_id_and_label_in_any_spelling(name: str) -> None:
    assert INDEX.find(name) == "depart_date"


def test_a_name_that_is_near_is_suggested_best_first_and_two_at_most() -> None:
    near = AliasIndex([("depart_date", "When"), ("departure", "From"), ("depart_day", "Day")]).near("depart_dat")
    assert near == ("depart_date", "depart_day")


@pytest.mark.parametrize("name", ["zzz", "", "x", "旅行"])
def test_nothing_is_suggested_when_nothing_is_near(name: str) -> None:
    assert INDEX.near(name) == ()
    assert INDEX.find(name) is None


def test_two_fields_that_go_by_one_name_collide() -> None:
    index = AliasIndex([("full_name", "Name"), ("name", "Nickname")])
    assert index.collisions == [("full_name", "name", "name")]


def test_labels_without_letters_of_ascii_do_not_collide() -> None:
    assert AliasIndex([("a", "城市"), ("b", "日期")]).collisions == []
