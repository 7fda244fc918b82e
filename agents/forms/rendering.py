"""Views and write results as JSON, for models and clients. What is not there is left out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agents.forms.evaluation import FieldStatus
from agents.forms.record import InstanceStatus
from agents.forms.report import FillReport
from agents.forms.view import Failure, FieldRow, FormView, Move, StepRow

__all__ = ["fill_data", "view_data"]

HELD_NOTE = "kept, and used as soon as the question applies"
UNKNOWN_NOTE = "not stored: no field goes by this name"
CLOSED_NOTE = "This form is closed. Start a new one if it is needed after all."


def view_data(view: FormView) -> dict[str, Any]:
    """Write a view."""
    closed = view.status is InstanceStatus.ABANDONED
    return _present(
        {
            "instance_id": view.instance_id,
            "form": view.form,
            "name": view.name,
            "status": view.status.value,
            "complete": view.complete,
            "fields": [_field(row) for row in view.fields],
            "step": None if view.step is None else _open_step(view.step, view.of),
            "steps": [_step(row, view.of) for row in view.steps] or None,
            "revisiting": view.revisiting or None,
            "blocked_on": view.blocked_on,
            "waiting": view.wait_message,
            "failures": _failures(view.failures),
            "undo_would": _would(view.undo),
            "redo_would": _would(view.redo),
            "closed_reason": view.closed_reason,
            "closed_note": CLOSED_NOTE if closed else None,
            "conduct": None if closed or view.complete else view.conduct,
        }
    )


def fill_data(report: FillReport) -> dict[str, Any]:
    """Write what became of a write."""
    unknown = [_present({"field": name, "did_you_mean": list(near) or None}) for name, near in report.unknown]
    more = {
        "captured": list(report.captured),
        "skipped": list(report.skipped) or None,
        "held": list(report.held) or None,
        "held_note": HELD_NOTE if report.held else None,
        "renamed": [f"{sent} → {field_id}" for sent, field_id in report.aliased] or None,
        "unknown_fields": unknown or None,
        "unknown_note": UNKNOWN_NOTE if unknown else None,
        "rejected": [
            _present({"field": issue.field, "message": issue.message, "hint": issue.hint}) for issue in report.issues
        ]
        or None,
    }
    return {**_present(more), **view_data(report.view), **_present({"failures": _failures(report.failures)})}


def _field(row: FieldRow) -> dict[str, Any]:
    valued = row.status in (FieldStatus.FILLED, FieldStatus.HELD) and row.skip_reason is None
    shown = {
        "id": row.id,
        "label": row.label,
        "description": row.description or None,
        "type": row.type,
        "required": row.required,
        "skippable": row.skippable or None,
        "status": row.status.value,
        "error": row.error,
        "skip_reason": row.skip_reason,
        "ask": row.ask,
        "confirms": row.confirms or None,
    }
    return {**_present(shown), **({"value": row.value} if valued else {})}


def _open_step(row: StepRow, of: int) -> dict[str, Any]:
    return _present({"id": row.id, "title": row.title, "position": f"{row.index + 1}/{of}", "ask": row.ask})


def _step(row: StepRow, of: int) -> dict[str, Any]:
    return _present(
        {
            "id": row.id,
            "title": row.title,
            "position": f"{row.index + 1}/{of}",
            "collects": row.preview,
            "progress": f"{row.filled + row.skipped}/{row.required}",
            "skipped": row.skipped or None,
            "complete": row.complete,
            "open": row.open,
        }
    )


def _failures(failures: tuple[Failure, ...]) -> list[dict[str, str]] | None:
    return [{"hook": failure.hook_id, "message": failure.message} for failure in failures] or None


def _would(move: Move | None) -> str | None:
    if move is None:
        return None
    if move.skip_reason is not None:
        return f"{move.field} → skipped ({move.skip_reason})"
    return f"{move.field} → {'empty' if move.empty else json.dumps(move.becomes, ensure_ascii=False)}"


def _present(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}
