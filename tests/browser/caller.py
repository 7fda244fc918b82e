"""A person in front of the page: real Chromium, with recorded speech as its microphone."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, Page, WebSocket, expect

from tests.fixtures.catalogue import fixture

__all__ = ["MICROPHONE", "Caller"]

MICROPHONE = """
(() => {
  const context = new AudioContext();
  const line = context.createMediaStreamDestination();
  navigator.mediaDevices.getUserMedia = async (constraints) => {
    window.microphoneAsked = constraints;
    await context.resume();
    return line.stream.clone();
  };
  window.speak = async (wav) => {
    const bytes = Uint8Array.from(atob(wav), (letter) => letter.charCodeAt(0));
    const source = new AudioBufferSourceNode(context, { buffer: await context.decodeAudioData(bytes.buffer) });
    source.connect(line);
    source.start();
    await new Promise((resolve) => (source.onended = resolve));
  };
})();
"""
"""Puts a line in place of the microphone, on which `speak` plays recordings; between them it is silent."""

PATIENCE_MS = 15_000
"""Milliseconds that are waited for anything: a turn on a busy machine takes three."""


class Caller:
    """A page, who sits in front of it, and what the server has told it.

    Args:
        browser: where the page is opened.
        url: the server's.
        size: of the window, pixels.
        injected: whether recordings take the place of the browser's microphone.
        options: of the browser's context.
    """

    def __init__(
        self,
        browser: Browser,
        url: str,
        *,
        size: tuple[int, int] = (1200, 900),
        injected: bool = True,
        **options: Any,
    ) -> None:
        context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)
        context.set_default_timeout(PATIENCE_MS)
        self.page: Page = context.new_page()
        if injected:
            self.page.add_init_script(MICROPHONE)
        self.events: list[Mapping[str, Any]] = []
        """What the server has told, in order."""
        self.commands: list[Mapping[str, Any]] = []
        """What the page has said."""
        self.faults: list[str] = []
        """What went wrong in the page."""
        self.page.on("websocket", self._listen)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.goto(url)

    def close(self) -> None:
        """Leave; a fault in the page is a fault of the test."""
        self.page.context.close()
        assert not self.faults, self.faults

    def button(self, name: str) -> Locator:
        """Find a button by its name."""
        return self.page.get_by_role("button", name=name, exact=True)

    def call(self) -> None:
        """Begin a call, and wait until the agent listens."""
        self.button("Start talking").click()
        self.sees("The agent listens")

    def sees(self, text: str) -> None:
        """Wait until the state of the call is described so."""
        expect(self.page.locator(".status")).to_have_text(text, timeout=PATIENCE_MS)

    def speak(self, recording: str) -> None:
        """Say a recording, to its end."""
        self.page.evaluate(
            "(wav) => window.speak(wav)", base64.b64encode(fixture(recording).path.read_bytes()).decode()
        )

    def types(self, words: str) -> None:
        """Type instead of speaking, and wait until it is a turn."""
        before = len(self.told("turn"))
        self.page.get_by_label("Type instead of speaking").fill(words)
        self.page.keyboard.press("Enter")
        self.wait(lambda: len(self.told("turn")) > before)

    def ask(self, recording: str) -> None:
        """Say a recording, and hear the answer to its end."""
        before = len(self.told("spoken"))
        self.speak(recording)
        self.wait(lambda: len(self.told("spoken")) > before)
        self.sees("The agent listens")

    def wait(self, condition: Any, within_ms: int = PATIENCE_MS) -> None:
        """Wait until something is so, while the page goes on."""
        for _ in range(within_ms // 50):
            if condition():
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"it never came to that; the latest events: {self.events[-8:]}")

    def told(self, kind: str) -> list[Mapping[str, Any]]:
        """Return the data of all events of a kind."""
        return [event["data"] for event in self.events if event["type"] == kind]

    def said(self, kind: str) -> list[Mapping[str, Any]]:
        """Return all commands of a kind."""
        return [command for command in self.commands if command["type"] == kind]

    def lines(self, kind: str) -> list[str]:
        """Read the transcript: what the ``caller`` or the ``agent`` said."""
        return self.page.locator(f".transcript .line.{kind}:not(.partial) p").all_inner_texts()

    def photograph(self, folder: Path, name: str, *, whole: bool = False) -> None:
        """Keep a picture of what is seen of the page, or of the whole of it."""
        folder.mkdir(parents=True, exist_ok=True)
        if whole:
            self.page.evaluate("scrollTo(0, 0)")
        self.page.screenshot(path=folder / f"{name}.png", full_page=whole)

    def complaints(self, axe: str) -> Sequence[str]:
        """Let axe-core look at the page; one line per rule it breaks."""
        self.page.evaluate(axe)
        found = self.page.evaluate("axe.run({ resultTypes: ['violations'] })")
        return [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found["violations"]]

    def _listen(self, connection: WebSocket) -> None:
        connection.on("framereceived", lambda message: self._note(self.events, message))
        connection.on("framesent", lambda message: self._note(self.commands, message))

    def _note(self, notes: list[Mapping[str, Any]], message: str | bytes) -> None:
        if isinstance(message, str):
            notes.append(json.loads(message))
