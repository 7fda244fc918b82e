"""The bookings service: another party, to the concierge. It keeps what it did, and does nothing twice by one key.

It stands for an airline's interface. Whoever has a real one puts it behind the same Protocol.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Protocol, TypeVar

from pydantic import BaseModel, ConfigDict

__all__ = ["Booking", "BookingDesk", "BookingError", "Bookings", "TripDetails"]

T = TypeVar("T")

ALPHABET = "BCDFGHJKMPQRTVWXY2346789"
"""No vowels, so that a reference is no word, and nothing that sounds or looks like another."""

WAIT_S = 10.0
"""Seconds one who writes waits for another."""


class BookingError(Exception):
    """The service refuses; the message says why."""


class TripDetails(BaseModel):
    """What is booked, and for whom."""

    model_config = ConfigDict(frozen=True)

    origin: str
    destination: str
    depart_date: date
    travellers: int
    full_name: str
    email: str
    loyalty_number: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Booking:
    """A booking as it stands."""

    reference: str
    details: TripDetails
    version: int
    """From 1; a change of the booking is the next."""


class Bookings(Protocol):
    """What the concierge needs of a bookings service."""

    async def book(self, details: TripDetails, *, booking_key: str, idempotency_key: str) -> Booking:
        """Book a trip, or change the booking there is. What it says already changes nothing.

        Args:
            details: what, and for whom.
            booking_key: names the booking: with a new one there will be another booking.
            idempotency_key: names this request: the same one sent again gives the same answer and does nothing.

        Raises:
            BookingError: it is refused.
        """
        ...

    async def send_itinerary(self, reference: str, *, idempotency_key: str) -> str:
        """Send the itinerary to the lead traveller's address; once by its key.

        Returns:
            The address.

        Raises:
            BookingError: there is no such booking.
        """
        ...


class BookingDesk:
    """A bookings service in a file, for any number of programs.

    Args:
        path: where it keeps its books; made when it is first used.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    async def book(self, details: TripDetails, *, booking_key: str, idempotency_key: str) -> Booking:
        """Book a trip, or change the booking there is."""
        content = details.model_dump_json()

        def work(books: sqlite3.Connection) -> Booking:
            done = books.execute(
                "SELECT booking_key, version, details FROM requests WHERE idempotency_key = ?", (idempotency_key,)
            ).fetchone()
            if done is not None:
                key, version, kept = done
                if (key, kept) != (booking_key, content):
                    raise BookingError("this idempotency key was used for another request; every request has its own")
                return Booking(reference=_reference(books, key), details=details, version=version)
            latest = books.execute(
                "SELECT version, details FROM requests WHERE booking_key = ? ORDER BY rowid DESC LIMIT 1",
                (booking_key,),
            ).fetchone()
            version = 1 if latest is None else latest[0] + (latest[1] != content)
            books.execute(
                "INSERT INTO requests (idempotency_key, booking_key, version, details) VALUES (?, ?, ?, ?)",
                (idempotency_key, booking_key, version, content),
            )
            return Booking(reference=_reference(books, booking_key), details=details, version=version)

        return await self._run(work)

    async def send_itinerary(self, reference: str, *, idempotency_key: str) -> str:
        """Send the itinerary to the lead traveller's address; once by its key."""

        def work(books: sqlite3.Connection) -> str:
            booking = _find(books, reference)
            if booking is None:
                raise BookingError(f"there is no booking {reference!r}")
            books.execute(
                "INSERT OR IGNORE INTO itineraries (idempotency_key, reference, address) VALUES (?, ?, ?)",
                (idempotency_key, reference, booking.details.email),
            )
            return booking.details.email

        return await self._run(work)

    async def bookings(self) -> list[Booking]:
        """Read all bookings as they stand, the first first."""

        def work(books: sqlite3.Connection) -> list[Booking]:
            references = books.execute("SELECT reference FROM bookings ORDER BY rowid").fetchall()
            return [booking for (reference,) in references if (booking := _find(books, reference)) is not None]

        return await self._run(work)

    async def itineraries(self) -> list[tuple[str, str]]:
        """Read which itineraries were sent: reference and address."""
        return await self._run(
            lambda books: books.execute("SELECT reference, address FROM itineraries ORDER BY rowid").fetchall()
        )

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do work in a transaction of its own, off the loop."""

        def whole() -> T:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self._path, timeout=WAIT_S, isolation_level=None)) as books:
                books.execute("PRAGMA journal_mode = WAL")
                books.execute("BEGIN IMMEDIATE")
                with books:  # commits, or takes everything back
                    for statement in _TABLES:
                        books.execute(statement)
                    return work(books)

        return await asyncio.to_thread(whole)


_TABLES = (
    "CREATE TABLE IF NOT EXISTS bookings (reference TEXT NOT NULL UNIQUE, booking_key TEXT NOT NULL PRIMARY KEY)",
    "CREATE TABLE IF NOT EXISTS requests (idempotency_key TEXT NOT NULL PRIMARY KEY, booking_key TEXT NOT NULL,"
    " version INTEGER NOT NULL, details TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS itineraries (idempotency_key TEXT NOT NULL PRIMARY KEY, reference TEXT NOT NULL,"
    " address TEXT NOT NULL)",
)


def _find(books: sqlite3.Connection, reference: str) -> Booking | None:
    found = books.execute(
        "SELECT details, version FROM requests JOIN bookings USING (booking_key) WHERE reference = ?"
        " ORDER BY requests.rowid DESC LIMIT 1",
        (reference,),
    ).fetchone()
    if found is None:
        return None
    return Booking(reference=reference, details=TripDetails.model_validate_json(found[0]), version=found[1])


def _reference(books: sqlite3.Connection, booking_key: str) -> str:
    """Find a booking's name, or give it one that no other has."""
    for attempt in count():
        found = books.execute("SELECT reference FROM bookings WHERE booking_key = ?", (booking_key,)).fetchone()
        if found is not None:
            return str(found[0])
        name = (_name(f"{booking_key}:{attempt}"), booking_key)
        books.execute("INSERT OR IGNORE INTO bookings (reference, booking_key) VALUES (?, ?)", name)
    raise AssertionError("unreachable")


def _name(seed: str) -> str:
    number = int.from_bytes(sha256(seed.encode()).digest()[:8], "big")
    letters = ""
    for _ in range(5):
        number, place = divmod(number, len(ALPHABET))
        letters += ALPHABET[place]
    return f"GLV-{letters}"
