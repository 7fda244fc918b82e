from __future__ import annotations

from agents.core.register import Register


def test_members_are_in_the_order_they_came_and_each_leaves_once() -> None:
    register: Register[str] = Register()
    leave_a, leave_b = register.add("a"), register.add("b")
    again = register.add("a")
    assert list(register.members) == ["a", "b", "a"]
    leave_b()
    leave_b()
    assert list(register.members) == ["a", "a"]
    leave_a()
    again()
    again()
    assert list(register.members) == []


def test_who_comes_or_goes_while_they_are_asked_changes_nothing() -> None:
    register: Register[str] = Register()
    leaves = [register.add(name) for name in "abc"]
    asked = []
    for member in register.members:
        asked.append(member)
        leaves[2]()
        register.add("d")
    assert asked == ["a", "b", "c"]
