from __future__ import annotations

import numpy as np
import pytest

from voice_server.clients.commands import Played
from voice_server.transports.websocket.output import SocketOutput

RATE = 1_000


class Line:
    def __init__(self) -> None:
        self.sent: list[tuple[int, bytes]] = []
        self.cleared: list[int] = []

    def play(self, epoch: int, message: bytes) -> None:
        self.sent.append((epoch, message))

    def clear(self, epoch: int) -> None:
        self.cleared.append(epoch)


class Stage:
    def __init__(self) -> None:
        self.orders: list[tuple[str, int]] = []
        self.reports: list[tuple[int, float, bool]] = []
        self.line = Line()
        self.output = SocketOutput(
            rate=RATE, can_pause=True, order=lambda order, epoch: self.orders.append((order, epoch))
        )
        self.output.attach(lambda epoch, played_s, *, final=False: self.reports.append((epoch, played_s, final)))
        self.output.connect(self.line)


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_a_message_is_its_epoch_and_its_samples_in_little_endian(stage: Stage) -> None:
    stage.output.play(258, np.array([1, -1, 256], np.int16))
    assert stage.line.sent == [(258, b"\x02\x01\0\0" + b"\x01\0\xff\xff\0\x01")]


def test_orders_name_the_epoch_and_a_clear_takes_back_what_waits(stage: Stage) -> None:
    stage.output.play(0, np.ones(10, np.int16))
    stage.output.pause()
    stage.output.unpause()
    stage.output.clear(1)
    assert stage.orders == [("pause", 0), ("unpause", 0), ("clear", 1)]
    assert stage.line.cleared == [1]


@pytest.mark.parametrize(
    ("epoch", "ms", "proven"),
    [(0, 40.0, 0.04), (0, 1e308, 0.1), (1, 0.0, 0.0), (2, 50.0, None), (10**30, 50.0, None)],
)
def test_an_acknowledgement_proves_no_more_than_was_sent(
    stage: Stage, epoch: int, ms: float, proven: float | None
) -> None:
    for sent in (0, 1):
        stage.output.play(sent, np.ones(100, np.int16))
    stage.output.acknowledge(Played(epoch=epoch, ms=ms, final=True))
    assert stage.reports == ([] if proven is None else [(epoch, proven, True)])


def test_what_is_kept_of_old_epochs_is_bounded(stage: Stage) -> None:
    for epoch in range(100):
        stage.output.play(epoch, np.ones(100, np.int16))
    for epoch in range(100):
        stage.output.acknowledge(Played(epoch=epoch, ms=100))
    assert [epoch for epoch, _, _ in stage.reports] == [96, 97, 98, 99]


async def test_a_closed_output_reports_nothing_and_one_without_a_line_sends_nothing(stage: Stage) -> None:
    stage.output.connect(None)
    stage.output.play(0, np.ones(100, np.int16))
    assert not stage.line.sent
    await stage.output.aclose()
    stage.output.acknowledge(Played(epoch=0, ms=100))
    assert not stage.reports
