"""The command line: `voice-server turn`, `serve`, `picture`, `token`, `doctor` and `schema`.

Below: ``options`` and ``settings`` type what was asked, ``turn`` and ``doctor`` do it. Exit status: 0 done, 1 a fault
of ours or an unfit machine, 2 something was asked for that cannot be done, 130 interrupted by Ctrl-C.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import os
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from voice_server.errors import UsageError
from voice_server.livekit.hiding import hide_tokens
from voice_server.options import OutputKind, TurnOptions, parse_expectation, parse_recording
from voice_server.settings import PREFIX, PipelineKind, Settings, load_settings
from voice_server.transcript import Ink, headline, render

if TYPE_CHECKING:
    from pipelines.trace import Trace

__all__ = ["main"]

_NAME = "voice-server"
_OVERRIDES = ("agent", "pipeline", "model", "stt", "tts", "vad", "database")
_CONVERSATION = re.compile(r"[\w.:-]{1,128}", re.ASCII)

_TURN = f"""\
Run recorded caller turns through a call and show what was understood, answered and heard.

  {_NAME} turn question.wav                      one question, one answer
  {_NAME} turn question.wav thanks.wav           the second starts when the agent has answered the first
  {_NAME} turn question.wav stop.wav@+1.2        the second starts 1.2 s after the agent begins to speak: a barge-in
  {_NAME} turn q.wav --out out --plot out/turn.png   keep a record of the call, and a picture
  {_NAME} turn q.wav --agent my_agent:create     your own agent, found from the current folder
  {_NAME} turn q.wav --database sqlite:///calls.db --conversation ann    a call that a later one can go on with

A WAV may have any width, rate from 8 to 192 kHz and number of channels, and last up to 30 minutes. Time is charged: the
call waits for nothing, yet its latencies are those of this machine. With --pipeline realtime it takes as long as a real
one: a provider at the other end of a network cannot be charged.
"""

_PICTURE = f"""\
Draw a call that was recorded, finished or not: who spoke, what was understood, where the time went, what was heard.

  {_NAME} picture out                            out/picture.png; a long call takes several pages
  {_NAME} picture out --out call.svg --from 60 --to 90    half a minute of it, to look into closely
"""

_SERVE = f"""\
Talk to the agent: in a browser, by chat, or from a program over a socket. /docs describes it all.

  {_NAME} serve                                  on this machine only, without a key
  VOICE_KEY=… {_NAME} serve --host 0.0.0.0       for everybody who has the key

SIGTERM or Ctrl-C lets calls end before it goes; a second one does not.
"""

_WORKER = f"""\
Be one of the workers of a LiveKit server, which LIVEKIT_URL, LIVEKIT_API_KEY and LIVEKIT_API_SECRET name: it sends
agents into rooms, chooses among workers by how busy they are, and has a room's calls go on where they are.

  {_NAME} worker                                 for every room that is opened
  LIVEKIT_AGENT_NAME=trips {_NAME} worker        for rooms that ask for it, in a token's room configuration, or
  lk dispatch create --agent-name trips --room lobby --metadata '{{"inputs": {{"plan": "gold"}}}}'

A dispatch's metadata is a JSON object, or empty: `agent` (a name of VOICE_AGENTS), `inputs` for it, `conversation`,
`listen_to` (an identity), `mode` and `pipeline`. A room whose agent cannot be had is told why, and closed.
SIGTERM or Ctrl-C takes nothing new and lets calls end before it goes; a second one does not.
"""

_TOKEN = f"""\
Print a token with which a caller joins a room of the LiveKit server that LIVEKIT_URL, LIVEKIT_API_KEY and
LIVEKIT_API_SECRET name. It is made here; the server is not asked.

  {_NAME} token lobby                            paste it where a client of LiveKit asks for a token
  {_NAME} token lobby --identity ann --conversation ann-7 --json    with the server's address, as `/api/token` answers

The agent comes into the room when a running server is asked to: POST /api/rooms/lobby/calls.
"""

_DOCTOR = f"""\
Say what is installed, configured and loadable, and the fix for what is not.

Exit status 0 when `{_NAME} turn` can run with the present settings, else 1.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: those of the process by default.

    Returns:
        The exit status.
    """
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))  # so that `--agent my_agent:create` finds the caller's own module
    try:
        parsed = _parser().parse_args(arguments)
        return int(parsed.command(parsed))
    except UsageError as error:
        sys.stderr.write(f"{_NAME}: {error}\n")
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else Python complains again at exit
        return 0


class _Parser(argparse.ArgumentParser):
    """A parser whose mistakes are usage errors like all others."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see `{self.prog} --help`")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog=_NAME,
        description="A caller speaks, an agent that knows what it still has to find out answers.",
        epilog=f"Defaults come from {PREFIX}… variables: see the README's table. `{_NAME} COMMAND --help` says more.",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {version('glove-voice')}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_turn(commands)
    _add_serve(commands)
    _add_worker(commands)
    _add_picture(commands)
    _add_token(commands)
    doctor = commands.add_parser(
        "doctor",
        help="what is installed and configured, and the fix for what is not",
        description=_DOCTOR,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    doctor.add_argument("--json", action="store_true", help="print one JSON object")
    doctor.set_defaults(command=_doctor)
    schema = commands.add_parser(
        "schema",
        help="the JSON Schema of what clients are told and may say",
        description="Print the JSON Schema of all events and commands, from which a client's types can be generated.",
    )
    schema.set_defaults(command=_schema)
    return parser


def _add_turn(commands: argparse._SubParsersAction[_Parser]) -> None:
    turn = commands.add_parser(
        "turn",
        help="run recorded caller turns through a call",
        description=_TURN,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    turn.set_defaults(command=_turn)
    add = turn.add_argument
    add("recordings", nargs="+", metavar="WAV[@+SECONDS]", help="what the caller says, in order")
    _add_engines(turn)
    add(
        "--output",
        choices=[kind.value for kind in OutputKind],
        default=OutputKind.PAUSING.value,
        help="what the agent plays through: one that stops at a sample and goes on there, like a room; one that can "
        "only drop what is queued, like a browser; or one that besides tells late what it played, like a phone bridge",
    )
    add(
        "--expect",
        metavar="KIND",
        help="what the first recording answers: yes_no, digits:9, spelling, date, time, number, dictation, choice:a,b",
    )
    add("--conversation", metavar="ID", help="go on with this conversation, or begin it (default: a new one)")
    add("--realtime-clock", action="store_true", help="take as long as a real call: true time instead of charged time")
    add("--json", action="store_true", help="print one JSON object instead of the conversation")
    add(
        "--out",
        metavar="DIR",
        type=Path,
        help="record the call there: call.wav and each side's audio, events, transcript, captions, report.json",
    )
    add("--plot", metavar="FILE", type=Path, help="draw the call: .png, .svg or .pdf")


def _add_picture(commands: argparse._SubParsersAction[_Parser]) -> None:
    picture = commands.add_parser(
        "picture",
        help="draw a call that was recorded",
        description=_PICTURE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    picture.set_defaults(command=_picture)
    add = picture.add_argument
    add("folder", metavar="FOLDER", type=Path, help="the record: what `turn --out` or the server wrote")
    add("--out", metavar="FILE", type=Path, help=".png, .svg or .pdf (default: picture.png in the folder)")
    add("--from", metavar="SECONDS", dest="start", type=_moment, default=0.0, help="leave out what was before")
    add("--to", metavar="SECONDS", dest="end", type=_moment, default=math.inf, help="leave out what comes after")


def _add_token(commands: argparse._SubParsersAction[_Parser]) -> None:
    token = commands.add_parser(
        "token",
        help="a token to join a LiveKit room with",
        description=_TOKEN,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    token.set_defaults(command=_token)
    add = token.add_argument
    add("room", metavar="ROOM", help="the room it opens")
    add("--identity", metavar="NAME", help="who joins; who is there with the same is put out (default: a new one)")
    add("--conversation", metavar="ID", help="what the caller goes on with (default: a new one)")
    add("--json", action="store_true", help="print one JSON object, with the server's address")


def _moment(argument: str) -> float:
    seconds = float(argument)
    if not 0 <= seconds < math.inf:
        raise ValueError(argument)
    return seconds


def _add_serve(commands: argparse._SubParsersAction[_Parser]) -> None:
    serve = commands.add_parser(
        "serve",
        help="a page, chat, and sockets for calls",
        description=_SERVE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    serve.set_defaults(command=_serve)
    serve.add_argument("--host", metavar="ADDRESS", help=f"address to listen on ({_default('host')})")
    serve.add_argument("--port", metavar="NUMBER", help=f"port to listen on ({_default('port')}; 0: any)")
    _add_engines(serve)


def _add_worker(commands: argparse._SubParsersAction[_Parser]) -> None:
    worker = commands.add_parser(
        "worker",
        help="take calls that a LiveKit server dispatches",
        description=_WORKER,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    worker.set_defaults(command=_worker)
    _add_engines(worker)


def _add_engines(parser: argparse.ArgumentParser) -> None:
    """Add what a call is made of, the same for all commands that hold one."""
    add = parser.add_argument
    add("--agent", metavar="MODULE:FACTORY", help=f"who answers ({_default('agent')})")
    add(
        "--model",
        help=f"the language model ({_default('model')}: OpenAI's with a key in the environment, else offline)",
    )
    add(
        "--pipeline",
        choices=[kind.value for kind in PipelineKind],
        help=f"how speech becomes answers: by recogniser, model and synthesiser, or by a speech-to-speech model and "
        f"on the real clock ({_default('pipeline')})",
    )
    add("--stt", metavar="ENGINE", help=f"recogniser, a name or module:factory ({_default('stt')})")
    add("--tts", metavar="ENGINE", help=f"synthesiser ({_default('tts')})")
    add("--vad", metavar="ENGINE", help=f"voice activity detector ({_default('vad')})")
    add(
        "--database",
        metavar="URL",
        help=f"where conversations are kept, sqlite:///calls.db or postgresql://… ({_default('database')})",
    )


def _default(name: str) -> str:
    return str(Settings.model_fields[name].default)


def _turn(parsed: argparse.Namespace) -> int:
    options = _turn_options(parsed)
    _log_to_stderr(options.settings)

    from agents.core.errors import ConfigurationError, StoreError
    from pipelines.audio.wav import WavError
    from pipelines.engines import EngineError
    from pipelines.realtime.base import RealtimeError
    from pipelines.trace import Trace
    from voice_server.picture import check_drawable
    from voice_server.records.folder import make_folder
    from voice_server.turn import run

    if parsed.out is not None:
        make_folder(parsed.out, "--out")
    if parsed.plot is not None:
        make_folder(parsed.plot.parent, "--plot")
        check_drawable(parsed.plot, "--plot")
    trace = Trace()
    try:
        report = run(options, trace)
    except (WavError, EngineError, ConfigurationError, StoreError, RealtimeError) as error:
        raise UsageError(str(error)) from error
    pages = [] if parsed.plot is None else _draw(trace, parsed.plot, title=headline(report))
    if parsed.json:
        _print(json.dumps(report.to_json(), ensure_ascii=False))
    else:
        _print(render(report, width=_columns(), ink=Ink(colour=_colour())))
        _print("".join(f"\nwritten: {path}" for path in (report.audio.path, *pages) if path).lstrip("\n"))
    return 0


def _turn_options(parsed: argparse.Namespace) -> TurnOptions:
    settings = load_settings(**{name: getattr(parsed, name) for name in _OVERRIDES})
    return TurnOptions(
        recordings=tuple(parse_recording(argument) for argument in parsed.recordings),
        settings=settings,
        output=OutputKind(parsed.output),
        realtime=parsed.realtime_clock,
        conversation=_conversation_id(parsed.conversation),
        out=parsed.out,
        expects=None if parsed.expect is None else parse_expectation(parsed.expect),
    )


def _conversation_id(argument: str | None) -> str | None:
    if argument is not None and not _CONVERSATION.fullmatch(argument):
        raise UsageError(
            f"--conversation {argument[:80]!r}: an id is 1 to 128 letters, digits, '.', '_', ':' or '-'; leave it out "
            "to begin a new conversation"
        )
    return argument


def _picture(parsed: argparse.Namespace) -> int:
    from voice_server.picture import check_drawable
    from voice_server.records.opened import open_record

    path = parsed.out or parsed.folder / "picture.png"
    check_drawable(path, "--out")
    record = open_record(parsed.folder)
    title = headline(record.report) + ("" if record.complete else " · not recorded to its end")
    pages = _draw(record.trace, path, title=title, start_s=parsed.start, end_s=parsed.end)
    _print("\n".join(f"written: {page}" for page in pages))
    return 0


def _draw(trace: Trace, path: Path, **how: Any) -> list[Path]:
    from voice_server.picture import draw

    try:
        return draw(trace, path, **how)
    except OSError as error:
        raise UsageError(f"{str(error.filename or path)!r} cannot be written: {error.strerror}") from error


def _doctor(parsed: argparse.Namespace) -> int:
    from voice_server.doctor import examine

    diagnosis = examine(load_settings())
    _print(json.dumps(diagnosis.to_json()) if parsed.json else diagnosis.render(Ink(colour=_colour())))
    return 0 if diagnosis.fit else 1


def _token(parsed: argparse.Namespace) -> int:
    settings = load_settings()

    from voice_server.livekit.access import Access
    from voice_server.livekit.ticket import Ticket, TicketError

    conversation = _conversation_id(parsed.conversation)
    try:
        ticket = Ticket.issue(
            Access.of(settings),
            lasts_s=settings.livekit_token_s,
            room=parsed.room,
            identity=parsed.identity,
            conversation=conversation,
        )
    except TicketError as error:
        raise UsageError(str(error)) from error
    _print(json.dumps(asdict(ticket)) if parsed.json else ticket.participant_token)
    return 0


def _serve(parsed: argparse.Namespace) -> int:
    settings = load_settings(**{name: getattr(parsed, name) for name in (*_OVERRIDES, "host", "port")})
    _log_to_stderr(settings)

    from voice_server.serve import run

    run(settings, _say)
    return 0


def _worker(parsed: argparse.Namespace) -> int:
    settings = load_settings(**{name: getattr(parsed, name) for name in _OVERRIDES})
    _log_to_stderr(settings)

    from voice_server.livekit.worker import run

    run(settings, _say)
    return 0


def _say(sentence: str) -> None:
    sys.stderr.write(f"{_NAME}: {sentence}\n")
    sys.stderr.flush()


def _schema(_: argparse.Namespace) -> int:
    from voice_server.clients.schema import clients_schema

    _print(json.dumps(clients_schema(), indent=2))
    return 0


def _log_to_stderr(settings: Settings) -> None:
    logging.basicConfig(
        stream=sys.stderr, level=settings.log_level.upper(), format=f"{_NAME}: %(levelname)s %(name)s: %(message)s"
    )
    for handler in logging.getLogger().handlers:
        handler.addFilter(hide_tokens)


def _columns() -> int:
    return min(shutil.get_terminal_size().columns, 120)


def _colour() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def _print(text: str) -> None:
    if text:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
