"""Quiet: the SDK wakes every room and every stream of a process for the events of all; here each is woken for its own.

With a process for every call, as LiveKit's own agents have it, nobody notices. With twenty calls in one process every
frame of a caller would go through all their queues: by what one wake-up costs, a third of a core for nothing. Above:
``room`` and ``ears``. Below: what the SDK keeps to itself, so that a version that keeps it otherwise is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from livekit import rtc

__all__ = ["narrow_room", "narrow_stream"]

_OTHERS = frozenset(
    {
        "audio_stream_event",
        "video_stream_event",
        "capture_audio_frame",
        "publish_data",
        "text_stream_open",
        "text_stream_writer_write",
        "text_stream_writer_close",
        "text_stream_reader_event",
    }
)
"""Events that no room waits for: whoever made the request has a subscription of their own."""


def narrow_stream(stream: rtc.AudioStream) -> bool:
    """Let a stream be told of its own frames only.

    Returns:
        Whether the SDK is as it is known.
    """

    def own(event: Any, handle: int) -> bool:
        told: bool = event.WhichOneof("message") == "audio_stream_event"
        return told and bool(event.audio_stream_event.stream_handle == handle)

    return _narrow(stream, own)


def narrow_room(room: rtc.Room) -> bool:
    """Let a room that is joined be told of what happens in it only.

    Returns:
        Whether the SDK is as it is known.
    """

    def own(event: Any, handle: int) -> bool:
        message = event.WhichOneof("message")
        if message == "room_event":
            return bool(event.room_event.room_handle == handle)
        return message not in _OTHERS

    return _narrow(room, own)


def _narrow(owner: Any, own: Callable[[Any, int], bool]) -> bool:
    from livekit.rtc._ffi_client import FfiClient

    try:
        handle, queue = owner._ffi_handle.handle, FfiClient.instance.queue
        with queue._lock:
            for index, (subscriber, loop, _) in enumerate(queue._subscribers):
                if subscriber is owner._ffi_queue:
                    queue._subscribers[index] = (subscriber, loop, lambda event: own(event, handle))
                    return True
    except (AttributeError, TypeError, ValueError):
        pass
    return False
