import { describe, expect, it } from "vitest";

import type { CallReady, Event } from "../protocol/wire";
import { NOTHING, reduce, type CallView } from "./view";

const READY: CallReady = {
  conversation: "c",
  resumed: false,
  pipeline: "cascade",
  agent: "desk",
  model: "offline",
  stt: "whisper",
  tts: "hibari",
  hears: 16_000,
  speaks: 24_000,
  mode: "automatic",
  muted: false,
};

/** Tell a story of events; each is its type and its data. */
function after(...story: [type: Event["type"], data: object, call?: string][]): CallView {
  const begin: Event = { v: 1, seq: null, call: "k", t_ms: 0, type: "ready", data: READY };
  return story.reduce(
    (view, [type, data, call = "k"], n) => reduce(view, { v: 1, seq: n + 1, call, t_ms: 100 * n, type, data } as Event),
    reduce(NOTHING, begin),
  );
}

function texts(view: CallView): string[] {
  return view.lines.map((line) => `${line.by}: ${line.text}`);
}

describe("what the caller said", () => {
  it("is words until it is a turn", () => {
    const partial = after(
      ["speech", { speaking: true, segment: 1 }],
      ["words", { segment: 1, text: "what", final: false }],
    );
    expect(partial.words.map(({ text }) => text)).toEqual(["what"]);
    expect(partial.lines).toEqual([]);
    const turn = after(
      ["words", { segment: 1, text: "What time", final: true }],
      ["words", { segment: 2, text: "is it?", final: true }],
      ["turn", { turn: 0, text: "What time is it?" }],
    );
    expect(turn.words).toEqual([]);
    expect(texts(turn)).toEqual(["caller: What time is it?"]);
  });

  it("is replaced by what was recognised later, and taken away when nothing was", () => {
    const view = after(
      ["words", { segment: 2, text: "b", final: false }],
      ["words", { segment: 1, text: "a", final: false }],
      ["words", { segment: 2, text: "bee", final: true }],
      ["words", { segment: 1, text: "", final: true }],
    );
    expect(view.words).toEqual([{ segment: 2, text: "bee", final: true }]);
  });

  it("is no turn when it was only a sound; what was said before it stays", () => {
    const view = after(
      ["speech", { speaking: true, segment: 1 }],
      ["words", { segment: 1, text: "My number is", final: true }],
      ["speech", { speaking: true, segment: 2 }],
      ["words", { segment: 2, text: "mm-hm", final: true }],
      ["sound", { kind: "backchannel", text: "mm-hm" }],
    );
    expect(view.words.map(({ text }) => text)).toEqual(["My number is"]);
    expect(view.lines).toMatchObject([{ by: "sound", kind: "backchannel", text: "mm-hm" }]);
  });
});

describe("what the agent said", () => {
  const begun: [Event["type"], object] = ["utterance", { utterance: 4, kind: "reply", turn: 0 }];

  it("is shown as far as it was heard, and no further", () => {
    expect(texts(after(begun))).toEqual(["agent: "]);
    expect(texts(after(begun, ["heard", { utterance: 4, text: "It is" }]))).toEqual(["agent: It is"]);
    const cut = after(
      begun,
      ["heard", { utterance: 4, text: "It is" }],
      [
        "spoken",
        { utterance: 4, kind: "reply", turn: 0, text: "It is ten o'clock.", heard: "It is ten", interrupted: true },
      ],
    );
    expect(cut.lines).toMatchObject([{ by: "agent", text: "It is ten", state: "interrupted" }]);
    expect(JSON.stringify(cut)).not.toContain("o'clock");
  });

  it("stays where it began, whatever is said meanwhile", () => {
    const view = after(
      begun,
      ["turn", { turn: 1, text: "Stop." }],
      ["spoken", { utterance: 4, kind: "reply", turn: 0, text: "It is ten.", heard: "It", interrupted: true }],
    );
    expect(texts(view)).toEqual(["agent: It", "caller: Stop."]);
  });

  it("was never said when nothing of it was heard", () => {
    const view = after(begun, [
      "spoken",
      { utterance: 4, kind: "reply", turn: 0, text: "Hm.", heard: "", interrupted: true },
    ]);
    expect(view.lines).toEqual([]);
  });

  it("is shown also to a page that came too late for its beginning", () => {
    expect(texts(after(["heard", { utterance: 9, text: "and so" }]))).toEqual(["agent: and so"]);
  });
});

describe("a call that comes back", () => {
  it("goes on as if nothing had happened, if the server kept it", () => {
    const before = after(["turn", { turn: 0, text: "Hello." }], ["slots", { slots: [] }]);
    const view = reduce(before, {
      v: 1,
      seq: null,
      call: "k",
      t_ms: 0,
      type: "ready",
      data: { ...READY, resumed: true },
    });
    expect(view.lines).toBe(before.lines);
  });

  it("keeps what was said in front of a new call, and nothing that was going on", () => {
    const view = after(
      ["turn", { turn: 0, text: "Hello." }],
      ["words", { segment: 1, text: "and", final: false }],
      ["tool", { call_id: "t", name: "look", turn: 0, status: "running" }],
      ["ready", READY, "k-2"],
      ["turn", { turn: 0, text: "Again." }, "k-2"],
    );
    expect(view.lines.map(({ by }) => by)).toEqual(["caller", "page", "caller"]);
    expect(new Set(view.lines.map(({ id }) => id)).size).toBe(3);
    expect([view.words, view.tools]).toEqual([[], []]);
  });
});

describe("tools", () => {
  it("keep their input when they have ended", () => {
    const view = after(
      ["tool", { call_id: "t", name: "look", turn: 0, status: "running", input: { at: "sky" }, duration_ms: null }],
      ["tool", { call_id: "t", name: "look", turn: 0, status: "success", input: null, duration_ms: 12.5 }],
    );
    expect(view.tools).toEqual([
      { call_id: "t", name: "look", turn: 0, status: "success", input: { at: "sky" }, duration_ms: 12.5, began: 0 },
    ]);
  });
});

it("a failure is shown until the next turn", () => {
  const failed: [Event["type"], object] = ["error", { code: "engine", message: "the voice does not answer" }];
  expect(after(failed).failure?.code).toBe("engine");
  expect(after(failed, ["turn", { turn: 1, text: "Hello?" }]).failure).toBeNull();
});
