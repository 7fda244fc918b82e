"""What may be done to goals, and what follows: an entry and a change make the next entry. Pure.

Above: ``runner`` reads, commits and tells hooks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents.goals.definition import Goal, GoalItem, GoalProgram
from agents.goals.errors import GoalError
from agents.goals.record import (
    Disposition,
    Entry,
    EntryKind,
    GoalScope,
    ItemState,
    Progress,
    Provenance,
    Transition,
    TransitionKind,
)
from agents.goals.status import GoalStatus, status_of

__all__ = [
    "Change",
    "Evidence",
    "Stamp",
    "nothing_said",
    "revised",
    "settled",
    "started",
    "touches_the_same",
    "updated",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """Whose goals are changed, why, and by whom."""

    scope: GoalScope
    reason: str
    provenance: Provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What is said of items of one goal."""

    goal_key: str
    completed: tuple[str, ...] = ()
    deferred: tuple[str, ...] = ()
    declined: tuple[str, ...] = ()
    reopened: tuple[str, ...] = ()

    def dispositions(self) -> dict[str, Disposition]:
        """By item.

        Raises:
            GoalError: no item is named, or one twice.
        """
        lists = {
            Disposition.DONE: self.completed,
            Disposition.DEFERRED: self.deferred,
            Disposition.DECLINED: self.declined,
            Disposition.PENDING: self.reopened,
        }
        named = [(key, disposition) for disposition, keys in lists.items() for key in keys]
        found = dict(named)
        if not found:
            raise GoalError("name at least one item: completed, deferred, declined or reopened")
        if len(found) < len(named):
            keys = [key for key, _ in named]
            twice = ", ".join(sorted({key for key in keys if keys.count(key) > 1}))
            raise GoalError(f"each item may be named only once; named more than once: {twice}")
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What facts settle."""

    goal_key: str
    item_key: str
    claim_id: str
    note: str


def started(program: GoalProgram, stamp: Stamp) -> Entry:
    """Begin a program."""
    return _entry(None, EntryKind.START, program, {}, stamp)


def updated(entry: Entry, change: Change, stamp: Stamp) -> Entry | None:
    """Say what became of items.

    Returns:
        The next entry; ``None`` when it all was so already.

    Raises:
        GoalError: the change is not allowed; nothing of it was done.
    """
    goal = entry.program.goal(change.goal_key)
    before = entry.progress.get(change.goal_key, {})
    if goal is None and not before:
        known = ", ".join(goal.key for goal in entry.program.goals) or "none"
        raise GoalError(f"there is no goal {change.goal_key!r}; the goals are {known}")
    after = dict(before)
    for key, disposition in change.dispositions().items():
        state = before.get(key)
        item = None if goal is None else goal.item(key)
        _refuse_unfit(change.goal_key, goal, key, item, state, disposition)
        if disposition is not (Disposition.PENDING if state is None else state.disposition):
            label = item.label if item is not None else _label(state)
            after[key] = ItemState(
                disposition=disposition, note=stamp.reason, at=stamp.provenance.timestamp, label=label
            )
    if after == before:
        return None
    return _entry(entry, EntryKind.UPDATE, entry.program, {**entry.progress, change.goal_key: after}, stamp)


def revised(entry: Entry, program: GoalProgram, stamp: Stamp) -> Entry | None:
    """Put another program in the place of the one there is; same keys keep their progress.

    Returns:
        The next entry; ``None`` when it is the same program.

    Raises:
        GoalError: the revision is not allowed.
    """
    if program.key != entry.program.key:
        raise GoalError(f"a program's identity cannot change: this one is {entry.program.key!r}, not {program.key!r}")
    if program == entry.program:
        return None
    for goal in entry.program.goals:
        _refuse_unlocking(goal, program.goal(goal.key))
    return _entry(entry, EntryKind.REVISE, program, _relabelled(entry.progress, program), stamp)


def nothing_said(entry: Entry, stamp: Stamp) -> Entry:
    """Begin a change that says nothing yet: evidence may settle something in it."""
    return _entry(entry, EntryKind.UPDATE, entry.program, entry.progress, stamp)


def settled(before: Entry | None, entry: Entry, evidence: Sequence[Evidence], stamp: Stamp) -> Entry:
    """Settle what facts settle in the same change, so that a goal they complete is never entered.

    Args:
        before: what the change was made from.
        entry: the change; not committed yet.
        evidence: of items that are pending.
        stamp: the change's.
    """
    progress = {key: dict(items) for key, items in entry.progress.items()}
    for one in evidence:
        goal = entry.program.goal(one.goal_key)
        item = None if goal is None else goal.item(one.item_key)
        progress.setdefault(one.goal_key, {})[one.item_key] = ItemState(
            disposition=Disposition.DONE,
            note=one.note,
            at=stamp.provenance.timestamp,
            label=one.item_key if item is None else item.label,
            claim_id=one.claim_id,
        )
    bare = entry.model_copy(update={"progress": progress})
    return _with_transitions(before, bare, stamp.scope)


def touches_the_same(change: Change, before: Entry, now: Entry) -> bool:
    """Whether what a change speaks of was changed meanwhile: its goal's definition, or one of its items."""
    if before.program.goal(change.goal_key) != now.program.goal(change.goal_key):
        return True
    old, new = before.progress.get(change.goal_key, {}), now.progress.get(change.goal_key, {})
    return any(old.get(key) != new.get(key) for key in change.dispositions())


# ------------------------------------------------------------------------------------------------------ what is allowed


def _refuse_unfit(
    goal_key: str, goal: Goal | None, key: str, item: GoalItem | None, state: ItemState | None, wanted: Disposition
) -> None:
    if item is None and state is None:
        known = ", ".join(item.key for item in goal.items) if goal is not None else "none"
        raise GoalError(f"goal {goal_key!r} has no item {key!r}; its items are {known}")
    in_force = goal is not None and item is not None and not goal.retired and not item.retired
    if not in_force and wanted not in (Disposition.DONE, Disposition.DECLINED):
        raise GoalError(
            f"item {goal_key}/{key} is retired: it can be completed or declined; revise the program to bring it back"
        )


def _refuse_unlocking(before: Goal, after: Goal | None) -> None:
    if before.locked and after != before:
        raise GoalError(f"goal {before.key!r} is locked and must stay as it is, in every word")
    for item in before.items:
        if not item.locked:
            continue
        if after is None or after.retired:
            raise GoalError(f"goal {before.key!r} has a locked item, {item.key!r}, and may not be removed or retired")
        if after.item(item.key) != item:
            raise GoalError(f"item {before.key}/{item.key} is locked and must stay as it is, in every word")


# --------------------------------------------------------------------------------------------------------- what follows


def _entry(before: Entry | None, kind: EntryKind, program: GoalProgram, progress: Progress, stamp: Stamp) -> Entry:
    bare = Entry(
        version=1 if before is None else before.version + 1,
        kind=kind,
        reason=stamp.reason,
        program=program,
        progress=progress,
        transitions=(),
        provenance=stamp.provenance,
    )
    return _with_transitions(before, bare, stamp.scope)


def _with_transitions(before: Entry | None, entry: Entry, scope: GoalScope) -> Entry:
    """Find the edges of a change: completions and reopenings in the order of the goals, then the goal that is entered.

    Retiring is not completing: only what was said of an item, or proven, completes a goal. And only a goal whose
    completion was told is reopened.
    """
    old, new = None if before is None else status_of(before), status_of(entry)
    told = [] if before is None else list(before.told_complete)
    edges: list[tuple[Goal, TransitionKind]] = []
    for view in new.goals:
        key = view.definition.key
        was = None if old is None else old.goal(key)
        done_before = was is not None and was.status is GoalStatus.COMPLETED
        if view.status is GoalStatus.COMPLETED and not done_before and _spoken_of(key, before, entry):
            edges.append((view.definition, TransitionKind.COMPLETE))
            told.append(key)
        elif key in told and view.status in (GoalStatus.ACTIVE, GoalStatus.PENDING):
            edges.append((view.definition, TransitionKind.REOPEN))
            told.remove(key)
    active = None if new.active_goal is None else new.goal(new.active_goal)
    if active is not None and (old is None or old.active_goal != new.active_goal):
        edges.append((active.definition, TransitionKind.ENTER))
    transitions = tuple(Transition(scope=scope, version=entry.version, goal=goal, kind=kind) for goal, kind in edges)
    return entry.model_copy(update={"transitions": transitions, "told_complete": tuple(told)})


def _spoken_of(goal_key: str, before: Entry | None, entry: Entry) -> bool:
    """Whether what became of a goal's items is another than before."""
    old = {} if before is None else before.progress.get(goal_key, {})
    new = entry.progress.get(goal_key, {})
    return {key: state.disposition for key, state in old.items()} != {
        key: state.disposition for key, state in new.items()
    }


def _relabelled(progress: Progress, program: GoalProgram) -> Progress:
    """Give what was said the labels of now; what is defined no more keeps its last."""

    def relabel(goal: Goal | None, items: Mapping[str, ItemState]) -> dict[str, ItemState]:
        found = {}
        for key, state in items.items():
            item = None if goal is None else goal.item(key)
            found[key] = state if item is None else state.model_copy(update={"label": item.label})
        return found

    return {key: relabel(program.goal(key), items) for key, items in progress.items()}


def _label(state: ItemState | None) -> str:
    return "" if state is None else state.label
