from __future__ import annotations

from agents.core.mounts import Mounts


class Desk:
    """Something that is mounted."""


class LargeDesk(Desk):
    """Of another type, although it is one."""


def test_what_is_mounted_is_found_by_its_type_and_the_latest_of_a_type_counts() -> None:
    mounts = Mounts()
    assert mounts.find(Desk) is None
    desk, large = Desk(), LargeDesk()
    mounts.add(Desk())
    mounts.add(desk)
    mounts.add(large)
    assert mounts.find(Desk) is desk
    assert mounts.find(LargeDesk) is large
