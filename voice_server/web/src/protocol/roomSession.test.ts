import { describe, expect, it } from "vitest";

import { AGENT_WITHIN, BACK_WITHIN, RoomSession, type RoomAction } from "./roomSession";
import { CLOSED_WITHIN, type Opening } from "./session";

function envelope(type: string, data: object, seq: number | null = null, call = "k"): string {
  return JSON.stringify({ v: 1, seq, call, t_ms: 0, type, data });
}

const READY = (more: object = {}, call = "k") =>
  envelope("ready", { conversation: "c", resumed: false, muted: false, ...more }, null, call);

function does(actions: RoomAction[]): string[] {
  return actions.map((action) => {
    if (action.do === "say") return `say ${action.command.type}`;
    if (action.do === "tell") return `tell ${action.event.type}`;
    return action.do === "open" ? `open ${action.microphone}` : action.do;
  });
}

function live(opening: Opening = {}): RoomSession {
  const session = new RoomSession();
  session.begin(opening, 0);
  session.admitted("c");
  session.received(READY());
  return session;
}

describe("a call in a room", () => {
  it("is live when the agent is ready, which is told that we have a screen", () => {
    const session = new RoomSession();
    expect(session.begin({}, 0)).toEqual([]);
    expect(session.phase).toBe("connecting");
    expect(does(session.received(READY()))).toEqual(["tell ready", "say start", "open true"]);
    expect([session.phase, session.conversation, session.deadline]).toEqual(["live", "c", null]);
  });

  it("that was begun muted tells the agent so", () => {
    const session = new RoomSession();
    session.begin({ muted: true }, 0);
    expect(does(session.received(READY()))).toEqual(["tell ready", "say start", "say mute", "open false"]);
  });

  it("shows nothing twice, however often it is told, and all of another call", () => {
    const session = live();
    const turn = (n: number, call = "k") => envelope("turn", { turn: n, text: "x" }, n, call);
    expect(does(session.received(turn(1)))).toEqual(["tell turn"]);
    session.received(READY({ resumed: true }));
    expect(session.received(turn(1))).toEqual([]);
    expect(does(session.received(turn(2)))).toEqual(["tell turn"]);
    session.received(READY({}, "k2"));
    expect(does(session.received(turn(1, "k2")))).toEqual(["tell turn"]);
  });

  it("mutes the microphone with the call, whoever does it", () => {
    const session = live();
    expect(does(session.say({ type: "mute" }))).toEqual(["open false", "say mute"]);
    expect(does(session.received(envelope("muted", { muted: true }, 1)))).toEqual(["tell muted"]);
    expect(does(session.received(envelope("muted", { muted: false }, 2)))).toEqual(["tell muted", "open true"]);
    expect(session.muted).toBe(false);
  });

  it("comes back after a break, and remembers being muted in it", () => {
    const session = live();
    session.interrupted();
    expect(session.phase).toBe("reconnecting");
    expect(does(session.say({ type: "mute" }))).toEqual(["open false"]);
    expect(session.say({ type: "commit" })).toEqual([]);
    session.resumed();
    expect(session.phase).toBe("live");
    expect(does(session.received(READY({ resumed: true })))).toContain("say mute");
  });

  it.each([
    ["the agent says so", (s: RoomSession) => s.received(envelope("ended", { reason: "ended" }, 3)), "over"],
    ["the room is gone", (s: RoomSession) => s.disconnected(), "lost"],
    ["it was hung up", (s: RoomSession) => [...s.hangUp(5), ...s.disconnected()], "over"],
    ["nobody answers the hanging up", (s: RoomSession) => [...s.hangUp(5), ...s.tick(5 + CLOSED_WITHIN)], "over"],
    ["the agent stays away", (s: RoomSession) => [...s.abandoned(5), ...s.tick(5 + BACK_WITHIN)], "lost"],
  ])("is over when %s, and the room is left", (_, how, why) => {
    const session = live();
    expect(does(how(session)).at(-1)).toBe("leave");
    expect([session.phase, session.ending?.why, session.deadline]).toEqual(["ended", why, null]);
    expect(session.received(READY())).toEqual([]);
  });

  it("never begins when the server refuses, the room cannot be reached, or no agent comes", () => {
    const begun = () => {
      const session = new RoomSession();
      session.begin({}, 0);
      return session;
    };
    const refused = begun();
    expect(does(refused.refused({ why: "busy" }))).toEqual(["leave"]);
    expect(refused.ending).toEqual({ why: "busy" });
    const unreached = begun();
    unreached.disconnected();
    expect(unreached.ending).toEqual({ why: "unreachable" });
    const alone = begun();
    expect(alone.tick(AGENT_WITHIN - 1)).toEqual([]);
    alone.tick(AGENT_WITHIN);
    expect(alone.ending).toEqual({ why: "refused", reason: "the agent did not come" });
  });

  it("is not cut short by an agent that was away for a moment", () => {
    const session = live();
    session.abandoned(5);
    session.received(READY({ resumed: true }));
    expect([session.phase, session.deadline]).toEqual(["live", null]);
  });
});
