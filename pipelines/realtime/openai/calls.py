"""The tool calls of the answer being made: told when it is complete, taken out of the conversation when it is not."""

from __future__ import annotations

from collections import OrderedDict

from pipelines.realtime.events import ToolCalled
from pipelines.realtime.openai import wire

__all__ = ["Calls"]

KEPT = 1_024
"""Call ids that are remembered: of more than an hour's calls."""


class Calls:
    """Collects calls. A call whose id was there before is none."""

    def __init__(self) -> None:
        self._items: dict[str, ToolCalled | None] = {}
        self._told: OrderedDict[str, None] = OrderedDict()

    def note(self, answer: str, item: wire.Message) -> None:
        """Note an item of an answer, whole or just begun; what is no call is passed over.

        Args:
            answer: its id.
            item: as the provider writes it.
        """
        if wire.text(item, "type") != "function_call" or not (item_id := wire.text(item, "id")):
            return
        self._items.setdefault(item_id, None)
        call_id, name = wire.text(item, "call_id"), wire.text(item, "name")
        if wire.text(item, "status") == "completed" and call_id and name:
            self._items[item_id] = ToolCalled(
                reply=answer, call_id=call_id, name=name, arguments=wire.text(item, "arguments")
            )

    def complete(self) -> list[ToolCalled]:
        """End an answer that is complete.

        Returns:
            Its calls, in order.
        """
        items, self._items = self._items, {}
        calls = [call for call in items.values() if call is not None]
        return [call for call in calls if self._is_new(call.call_id)]

    def abandon(self) -> list[str]:
        """End an answer that is void or was cut off: none of its calls is run.

        Returns:
            The items that call, which must go: nobody will ever answer them.
        """
        items, self._items = self._items, {}
        return list(items)

    def _is_new(self, call_id: str) -> bool:
        if call_id in self._told:
            return False
        if len(self._told) >= KEPT:
            self._told.popitem(last=False)
        self._told[call_id] = None
        return True
