"""A parser of server-sent events that does what the HTML standard says, 9.2.6, and nothing else."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["EventSource", "Message"]


@dataclass(frozen=True)
class Message:
    type: str
    text: str
    last_event_id: str

    @property
    def envelope(self) -> Any:
        return json.loads(self.text)

    @property
    def data(self) -> Any:
        return self.envelope["data"]


class EventSource:
    """Feed it bytes in any pieces; it gives messages as a browser would dispatch them."""

    def __init__(self) -> None:
        self.last_event_id = ""
        self.comments: list[str] = []
        self._decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
        self._text = ""
        self._begun = False
        self._data: list[str] = []
        self._type = ""
        self._id = ""

    def feed(self, chunk: bytes) -> Iterator[Message]:
        self._text += self._decode(chunk)
        if self._text and not self._begun:
            self._begun = True
            self._text = self._text.removeprefix("\ufeff")
        while match := re.search(r"\r\n|\n|\r(?=.)", self._text, re.DOTALL):
            line, self._text = self._text[: match.start()], self._text[match.end() :]
            yield from self._line(line)

    def _line(self, line: str) -> Iterator[Message]:
        if not line:
            yield from self._dispatch()
            return
        if line.startswith(":"):
            self.comments.append(line[1:])
            return
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match field:
            case "event":
                self._type = value
            case "data":
                self._data.append(value)
            case "id" if "\0" not in value:
                self._id = value
            case _:
                pass

    def _dispatch(self) -> Iterator[Message]:
        self.last_event_id = self._id
        if self._data:
            yield Message(self._type or "message", "\n".join(self._data), self.last_event_id)
        self._data, self._type = [], ""
