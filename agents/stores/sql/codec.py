"""How values are written into the database: as JSON text, whatever a model or a caller put into them."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from typing import Generic, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from agents.core.errors import StoreError

__all__ = ["KEY_LIMIT", "Codec", "as_key"]

T = TypeVar("T")

KEY_LIMIT = 200
"""Characters of an id that are kept as they are; PostgreSQL refuses index rows beyond 2,700 bytes."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class Codec(Generic[T]):
    """Writes values of one dataclass and reads them again.

    Args:
        kind: the dataclass.
    """

    def __init__(self, kind: type[T]) -> None:
        self._name = kind.__name__.lower()
        self._adapter = TypeAdapter(kind)

    def write(self, value: T) -> str:
        """Write a value; equal values are written equally. Half a surrogate pair becomes U+FFFD.

        Raises:
            ValueError: something in it is no JSON.
        """
        try:
            return self._adapter.dump_json(value, exclude_defaults=True).decode()
        except PydanticSerializationError:
            pass
        try:
            plain = self._adapter.dump_python(value, mode="json", exclude_defaults=True)
        except (PydanticSerializationError, RecursionError) as exc:
            raise ValueError(f"this {self._name} cannot be stored: {exc}; whatever is in it has to be JSON") from None
        return _LONE_SURROGATE.sub("\ufffd", json.dumps(plain, ensure_ascii=False, separators=(",", ":")))

    def read(self, text: str) -> T:
        """Read what was written.

        Raises:
            StoreError: it was not written by :meth:`write`.
        """
        try:
            return self._adapter.validate_json(text)
        except ValidationError as exc:
            where = ".".join(map(str, exc.errors()[0]["loc"])) or "(all of it)"
            raise StoreError(
                f"a stored {self._name} cannot be read (at {where}); restore the database from a copy"
            ) from None


def as_key(text: str) -> str:
    """Make an id fit for a column: what is long or not printable is replaced by its hash."""
    if text and len(text) <= KEY_LIMIT and text.isprintable():
        return text
    return "sha256:" + sha256(text.encode(errors="surrogatepass")).hexdigest()
