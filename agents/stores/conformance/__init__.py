"""What every store keeps to, as checks that any adapter can be run through.

A check is a coroutine function that raises ``AssertionError``; its name is the sentence it checks. It gets a function
that opens the store of a conversation by identifier, in an empty place; opened twice, both are the same conversation::

    pytest.register_assert_rewrite("agents.stores.conformance")  # for messages that show the values

    @pytest.mark.parametrize("check", checks_for(MyStore), ids=lambda check: check.__name__)
    async def test_my_store(check, tmp_path):
        await check(lambda identifier: MyStore(tmp_path, identifier))

Checks of ``CONVERSATIONS`` get a whole ``Conversations`` instead.
"""

from __future__ import annotations

from agents.core.store import inbox_of, permissions_of, results_of, sub_agents_of, tasks_of, usage_of
from agents.stores.conformance.ground import Check, Open, PlaceCheck
from agents.stores.conformance.groups import INBOX, PERMISSIONS, RESULTS, SUB_AGENTS, TASKS, USAGE
from agents.stores.conformance.messages import MESSAGES
from agents.stores.conformance.places import CONVERSATIONS

__all__ = [
    "CONVERSATIONS",
    "INBOX",
    "MESSAGES",
    "PERMISSIONS",
    "RESULTS",
    "SUB_AGENTS",
    "TASKS",
    "USAGE",
    "Check",
    "Open",
    "PlaceCheck",
    "checks_for",
]


def checks_for(store: object) -> tuple[Check, ...]:
    """Choose the checks for the groups a store has.

    Args:
        store: the store, or its class.
    """
    groups = (
        (usage_of, USAGE),
        (results_of, RESULTS),
        (tasks_of, TASKS),
        (permissions_of, PERMISSIONS),
        (inbox_of, INBOX),
        (sub_agents_of, SUB_AGENTS),
    )
    return MESSAGES + tuple(check for find, checks in groups if find(store) is not None for check in checks)
