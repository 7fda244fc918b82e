from __future__ import annotations

import json

from voice_server.report import Audio, CallerTurn, CallEvent, Latency, ToolUse, TurnReport, Utterance
from voice_server.transcript import Ink, render

REPORT = TurnReport(
    conversation="c1",
    pipeline="cascade",
    agent="agents.desk:create",
    stt="whisper",
    tts="hibari",
    model="offline",
    turns=(
        CallerTurn(
            caller="What time is it?",
            agent="It is ten past four on Monday.",
            heard="It is ten",
            interrupted=True,
            tools=(ToolUse(name="time_of_day", input={"zone": "Europe/Vienna"}),),
            latency_ms=Latency(endpoint=300, stt=210, model=4, tts=90, voice_to_voice=394),
        ),
        CallerTurn(caller="Thank you."),
    ),
    utterances=(
        Utterance(
            id=1, kind="greeting", turn=None, text="Hello.", heard="Hello.", interrupted=False, start_s=0, end_s=1,
        ),
        Utterance(
            id=2, kind="reply", turn=0, text="It is ten past four on Monday.", heard="It is ten", interrupted=True,
            start_s=2.0, end_s=2.6,
        ),
    ),
    events=(CallEvent(t_ms=2400, type="backchannel", data={"text": "mm-hm"}),),
    audio=Audio(seconds=2.6, path="out/agent.wav"),
)  # fmt: skip


def test_the_json_has_the_contracts_keys_and_nothing_python() -> None:
    data = json.loads(json.dumps(REPORT.to_json()))
    assert list(data) == [
        "v", "conversation", "pipeline", "agent", "stt", "tts", "model",
        "turns", "utterances", "events", "goals", "forms", "audio",
    ]  # fmt: skip
    assert data["v"] == 1
    assert data["goals"] is None
    assert data["forms"] == []
    assert data["turns"][0] == {
        "caller": "What time is it?",
        "agent": "It is ten past four on Monday.",
        "heard": "It is ten",
        "interrupted": True,
        "tools": [{"name": "time_of_day", "input": {"zone": "Europe/Vienna"}, "status": "success"}],
        "latency_ms": {"endpoint": 300, "stt": 210, "model": 4, "tts": 90, "voice_to_voice": 394},
    }
    assert list(data["utterances"][0]) == ["id", "kind", "turn", "text", "heard", "interrupted", "start_s", "end_s"]
    assert data["events"] == [{"t_ms": 2400, "type": "backchannel", "data": {"text": "mm-hm"}}]
    assert data["audio"] == {"seconds": 2.6, "path": "out/agent.wav"}


def test_the_conversation_reads_in_the_order_it_happened() -> None:
    text = render(REPORT, width=120)
    places = [
        text.index(part)
        for part in (
            "greeting  Hello.",
            "caller  What time is it?",
            'time_of_day(zone="Europe/Vienna") success',
            "agent  It is ten",
            "✂ interrupted; not heard: past four on Monday.",
            "394 ms to the first sound = endpoint 300 + model 4 + tts 90 (its text was there after 210)",
            "caller  Thank you.",
            "events",
            "mm-hm",
        )
    ]
    assert places == sorted(places)


def test_long_lines_are_wrapped_beside_the_margin() -> None:
    turn = CallerTurn(caller="one two three four five six seven " * 5)
    report = TurnReport(conversation="c", pipeline="cascade", agent="a:b", stt="s", tts="t", model="m", turns=(turn,))
    lines = [line for line in render(report, width=50).splitlines()[2:] if line]
    assert len(lines) > 3
    assert all(len(line) <= 50 for line in lines)
    assert all(line.startswith(" " * 11) for line in lines[1:])


def test_a_call_without_turns_says_so() -> None:
    report = TurnReport(conversation="c", pipeline="cascade", agent="a:b", stt="s", tts="t", model="m")
    assert "Nobody said anything that was a turn." in render(report)


def test_colour_changes_nothing_but_colour() -> None:
    coloured = render(REPORT, ink=Ink(colour=True))
    assert "\x1b[1m" in coloured
    for code in ("\x1b[0m", "\x1b[1m", "\x1b[2m"):
        coloured = coloured.replace(code, "")
    assert coloured == render(REPORT)
