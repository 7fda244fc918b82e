from __future__ import annotations

import asyncio
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from agents.concierge.bookings import BookingDesk, BookingError, TripDetails


def details(**more: Any) -> TripDetails:
    return TripDetails(
        **{
            "origin": "Nairobi",
            "destination": "Lisbon",
            "depart_date": date(2026, 11, 2),
            "travellers": 2,
            "full_name": "Amina Odhiambo",
            "email": "amina@example.com",
            **more,
        }
    )


@pytest.fixture
def desk(tmp_path: Path) -> BookingDesk:
    return BookingDesk(tmp_path / "bookings" / "desk.db")


async def test_the_same_request_sent_again_books_once_and_gets_the_same_answer(desk: BookingDesk) -> None:
    first = await desk.book(details(), booking_key="form-1", idempotency_key="k1")
    assert await desk.book(details(), booking_key="form-1", idempotency_key="k1") == first
    assert await desk.bookings() == [first]
    assert first.reference.startswith("GLV-")


async def test_another_request_for_the_same_booking_changes_it(desk: BookingDesk) -> None:
    first = await desk.book(details(), booking_key="form-1", idempotency_key="k1")
    second = await desk.book(details(travellers=3), booking_key="form-1", idempotency_key="k2")
    assert (second.reference, second.version) == (first.reference, 2)
    assert await desk.bookings() == [second]
    late = await desk.book(details(), booking_key="form-1", idempotency_key="k1")
    assert (late.version, (await desk.bookings())[0].details.travellers) == (1, 3)


async def test_a_request_that_says_what_is_booked_already_changes_nothing(desk: BookingDesk) -> None:
    first = await desk.book(details(), booking_key="form-1", idempotency_key="k1")
    assert await desk.book(details(), booking_key="form-1", idempotency_key="k2") == first
    await desk.book(details(travellers=3), booking_key="form-1", idempotency_key="k3")
    back = await desk.book(details(), booking_key="form-1", idempotency_key="k4")
    assert (back.version, back.details.travellers) == (3, 2)
    assert await desk.bookings() == [back]


async def test_a_key_belongs_to_one_request(desk: BookingDesk) -> None:
    await desk.book(details(), booking_key="form-1", idempotency_key="k1")
    with pytest.raises(BookingError, match="used for another request"):
        await desk.book(details(travellers=3), booking_key="form-1", idempotency_key="k1")
    with pytest.raises(BookingError, match="used for another request"):
        await desk.book(details(), booking_key="form-2", idempotency_key="k1")


async def test_another_form_is_another_booking(desk: BookingDesk) -> None:
    one = await desk.book(details(), booking_key="form-1", idempotency_key="k1")
    other = await desk.book(details(), booking_key="form-2", idempotency_key="k2")
    assert await desk.bookings() == [one, other]
    assert one.reference != other.reference


async def test_requests_of_several_programs_at_once_are_each_done_once(desk: BookingDesk, tmp_path: Path) -> None:
    other = BookingDesk(tmp_path / "bookings" / "desk.db")
    await asyncio.gather(
        *(
            service.book(details(), booking_key=f"form-{number % 3}", idempotency_key=f"k{number % 3}")
            for number in range(6)
            for service in (desk, other)
        )
    )
    assert [booking.version for booking in await desk.bookings()] == [1, 1, 1]


async def test_an_itinerary_is_sent_once_to_the_address_of_the_booking(desk: BookingDesk) -> None:
    booking = await desk.book(details(), booking_key="form-1", idempotency_key="k1")
    for _ in range(2):
        assert await desk.send_itinerary(booking.reference, idempotency_key="mail-1") == "amina@example.com"
    assert await desk.itineraries() == [(booking.reference, "amina@example.com")]
    with pytest.raises(BookingError, match="no booking 'GLV-NONE'"):
        await desk.send_itinerary("GLV-NONE", idempotency_key="mail-2")
