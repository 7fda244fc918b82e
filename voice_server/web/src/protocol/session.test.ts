import { beforeEach, describe, expect, it } from "vitest";

import { GIVE_UP } from "./backoff";
import { CLOSED_WITHIN, READY_WITHIN, Session, type Action } from "./session";
import type { CallReady } from "./wire";

const READY: CallReady = {
  conversation: "c-1",
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

function envelope(type: string, data: object, seq: number | null, call = "k-1"): string {
  return JSON.stringify({ v: 1, seq, call, t_ms: 0, type, data });
}

function ready(changes: Partial<CallReady> = {}, call = "k-1"): string {
  return envelope("ready", { ...READY, ...changes }, null, call);
}

function state(seq: number, call = "k-1"): string {
  return envelope("state", { state: "listening" }, seq, call);
}

function told(actions: Action[]): (number | null)[] {
  return actions.flatMap((action) => (action.do === "tell" ? [action.event.seq] : []));
}

function said(actions: Action[]): object[] {
  return actions.flatMap((action) => (action.do === "say" ? [action.command] : []));
}

let session: Session;

beforeEach(() => {
  session = new Session();
});

function live(): void {
  session.begin({}, 0);
  session.opened();
  session.received(ready());
  expect(session.phase).toBe("live");
}

describe("a call begins", () => {
  it("with everything the server has to know, as the first thing that is said", () => {
    expect(session.begin({ key: "secret", mode: "manual", muted: true }, 0)).toEqual([{ do: "connect" }]);
    expect(said(session.opened())).toEqual([
      { type: "start", key: "secret", mode: "manual", muted: true, pauses: true, screen: true },
    ]);
  });

  it("going on with a conversation, if there is one", () => {
    session.begin({ conversation: "ann" }, 0);
    expect(said(session.opened())).toMatchObject([{ conversation: "ann" }]);
    expect(said(session.opened())[0]).not.toHaveProperty("after");
  });

  it("not, when no server answers", () => {
    session.begin({}, 0);
    expect(session.deadline).toBe(READY_WITHIN);
    expect(session.tick(READY_WITHIN)).toEqual([{ do: "disconnect" }]);
    expect(session.ending).toEqual({ why: "unreachable" });
  });

  it.each([
    [1006, "", { why: "unreachable" }],
    [1013, "busy", { why: "busy" }],
    [4401, "the key is wrong", { why: "key" }],
    [4400, "rate: too small", { why: "refused", reason: "rate: too small" }],
    [
      4409,
      "this conversation's call has a client",
      { why: "refused", reason: "this conversation's call has a client" },
    ],
  ])("not, when it is closed with %i", (code, reason, ending) => {
    session.begin({}, 0);
    session.opened();
    session.closed(code, reason, 10);
    expect([session.phase, session.ending, session.deadline]).toEqual(["ended", ending, null]);
  });
});

describe("events", () => {
  it("are told once, though the server may send them again", () => {
    live();
    expect(told(session.received(state(1)))).toEqual([1]);
    expect(told(session.received(state(2)))).toEqual([2]);
    expect(told(session.received(state(2)))).toEqual([]);
    expect(told(session.received(envelope("level", { level: 0, probability: 0 }, null)))).toEqual([null]);
  });

  it("of a kind or a version that is not known are passed over, and so is what is none", () => {
    live();
    for (const text of [envelope("hologram", {}, 3), "[1]", "nonsense", "null", '{"v":2,"type":"state","data":{}}']) {
      expect(session.received(text)).toEqual([]);
    }
    expect(session.received(envelope("toString", {}, 4))).toEqual([]);
    expect(session.phase).toBe("live");
  });
});

describe("a socket that breaks", () => {
  it("is tried again with the conversation and the last number seen", () => {
    live();
    session.received(state(7));
    expect(session.closed(1006, "", 1_000)).toEqual([]);
    expect([session.phase, session.deadline]).toEqual(["reconnecting", 1_250]);
    expect(session.tick(1_249)).toEqual([]);
    expect(session.tick(1_250)).toEqual([{ do: "connect" }]);
    expect(said(session.opened())).toMatchObject([{ conversation: "c-1", after: 7 }]);
    expect(told(session.received(ready({ resumed: true })))).toEqual([null]);
    expect(session.phase).toBe("live");
    expect(told(session.received(state(7)))).toEqual([]);
    expect(told(session.received(state(8)))).toEqual([8]);
  });

  it("begins a new call, with numbers from 1 and epochs from 0, when the old one is gone", () => {
    live();
    session.received(state(7));
    session.closed(1001, "", 0);
    session.tick(250);
    session.opened();
    const actions = session.received(ready({ resumed: false }, "k-2"));
    expect(actions.map((action) => action.do)).toEqual(["renew", "tell"]);
    expect(told(session.received(state(1, "k-2")))).toEqual([1]);
  });

  it("is waited for longer each time, a minute in all", () => {
    live();
    let now = 0;
    const waits: number[] = [];
    session.closed(1006, "", now);
    while (session.phase === "reconnecting") {
      waits.push(session.deadline! - now);
      now = session.deadline!;
      session.tick(now);
      session.closed(1006, "", now);
    }
    expect(waits.slice(0, 6)).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000]);
    expect(now).toBeLessThanOrEqual(GIVE_UP);
    expect(session.ending).toEqual({ why: "lost" });
  });

  it("is tried again also when the server still believes in the old one, or never gets ready", () => {
    live();
    session.closed(1006, "", 0);
    session.tick(250);
    session.opened();
    session.closed(4409, "it has a client", 300);
    expect([session.phase, session.deadline]).toEqual(["reconnecting", 800]);
    session.tick(800);
    expect(session.tick(800 + READY_WITHIN)).toEqual([{ do: "disconnect" }]);
    expect(session.deadline).toBe(800 + READY_WITHIN + 1_000);
  });

  it("keeps the caller muted, whatever the server remembers", () => {
    live();
    session.say({ type: "mute" });
    session.closed(1006, "", 0);
    session.tick(250);
    expect(said(session.opened())).toMatchObject([{ muted: true }]);
    expect(said(session.received(ready({ resumed: true, muted: false })))).toEqual([{ type: "mute" }]);
  });

  it("loses what is said meanwhile, but for muting", () => {
    live();
    session.closed(1006, "", 0);
    expect(session.say({ type: "played", epoch: 0, ms: 10 })).toEqual([]);
    expect(session.say({ type: "mute" })).toEqual([]);
    session.tick(250);
    expect(said(session.opened())).toMatchObject([{ muted: true }]);
  });
});

describe("the end", () => {
  it("comes with the server's reason", () => {
    live();
    session.received(envelope("ended", { reason: "the agent said goodbye" }, 1));
    session.closed(1000, "", 0);
    expect(session.ending).toEqual({ why: "over", reason: "the agent said goodbye" });
  });

  it("comes when the caller hangs up, and is not waited for long", () => {
    live();
    expect(said(session.hangUp(100))).toEqual([{ type: "hangup" }]);
    expect(session.phase).toBe("closing");
    expect(session.tick(100 + CLOSED_WITHIN)).toEqual([{ do: "disconnect" }]);
    expect([session.phase, session.deadline]).toEqual(["ended", null]);
  });

  it("comes at once while there is no connection", () => {
    live();
    session.closed(1006, "", 0);
    session.hangUp(10);
    expect(session.ending).toEqual({ why: "over", reason: "hung up" });
    expect(session.closed(1006, "", 20)).toEqual([]);
  });

  it("is not the last: the next call may go on", () => {
    live();
    session.hangUp(0);
    session.closed(1000, "", 10);
    session.begin({ conversation: "c-1" }, 20);
    expect(said(session.opened())).toMatchObject([{ conversation: "c-1" }]);
    session.received(ready({}, "k-2"));
    expect(session.phase).toBe("live");
  });
});
