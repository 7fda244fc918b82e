/**
 * A call in a LiveKit room as a client sees it, without any room: told what happens, it says what to do.
 *
 * LiveKit's client comes back by itself after a break, and the agent then tells everything again. Times are milliseconds
 * of any clock that only goes forward.
 */

import { decodeEvent } from "./codec";
import { CLOSED_WITHIN, type Ending, type Opening, type Phase } from "./session";
import type { Command, Event, Start } from "./wire";

/** Milliseconds from asking for the room to the agent's `ready`: it may have to be fetched from another machine. */
export const AGENT_WITHIN = 15_000;

/** Milliseconds an agent that left may take to come back before the call counts as lost. */
export const BACK_WITHIN = 10_000;

export type RoomAction =
  | { do: "say"; command: Command }
  /** Something the page is to show. */
  | { do: "tell"; event: Event }
  /** Whether the microphone is heard in the room. */
  | { do: "open"; microphone: boolean }
  | { do: "leave" };

export class RoomSession {
  phase: Phase = "idle";
  /** Why, once it is `ended`. */
  ending: Ending | null = null;
  /** The conversation's id; to be given again to go on with it. */
  conversation: string | null = null;
  /** When to call `tick`. */
  deadline: number | null = null;
  /** Whether the caller is muted: as was asked for last, here or at the server. */
  muted = false;

  private call: string | null = null;
  private seen = 0;

  /** Begin a call. */
  begin(opening: Opening, now: number): RoomAction[] {
    this.phase = "connecting";
    this.muted = opening.muted ?? false;
    this.conversation = opening.conversation ?? null;
    this.deadline = now + AGENT_WITHIN;
    return [];
  }

  /** The server gave a token: for this conversation. */
  admitted(conversation: string): RoomAction[] {
    this.conversation = conversation;
    return [];
  }

  /** The server or the room will not have us. */
  refused(ending: Ending): RoomAction[] {
    return this.phase === "ended" ? [] : this.end(ending);
  }

  /** An envelope came from the agent. */
  received(text: string): RoomAction[] {
    const event = decodeEvent(text);
    if (event === null || this.phase === "ended" || this.phase === "idle") return [];
    if (event.type === "ready") return this.ready(event);
    if (event.seq !== null) {
      if (event.call === this.call && event.seq <= this.seen) return [];
      this.seen = event.seq;
    }
    if (event.type === "ended") return [{ do: "tell", event }, ...this.end({ why: "over", reason: event.data.reason })];
    const muted = event.type === "muted" && event.data.muted !== this.muted;
    if (muted) this.muted = !this.muted;
    return [{ do: "tell", event }, ...(muted ? this.microphone() : [])];
  }

  /** The connection broke; LiveKit's client tries to come back. */
  interrupted(): RoomAction[] {
    if (this.phase === "live") this.phase = "reconnecting";
    return [];
  }

  /** It has come back. */
  resumed(): RoomAction[] {
    if (this.phase === "reconnecting") this.phase = "live";
    return [];
  }

  /** The agent is not in the room any more; it may come back, when it was its connection that broke. */
  abandoned(now: number): RoomAction[] {
    if (this.phase === "live" || this.phase === "reconnecting") {
      this.phase = "reconnecting";
      this.deadline = now + BACK_WITHIN;
    }
    return [];
  }

  /** We are not in the room any more, and LiveKit's client has given up. */
  disconnected(): RoomAction[] {
    switch (this.phase) {
      case "idle":
      case "ended":
        return [];
      case "connecting":
        return this.end({ why: "unreachable" });
      case "closing":
        return this.end({ why: "over", reason: "hung up" });
      case "live":
      case "reconnecting":
        return this.end({ why: "lost" });
    }
  }

  /** The deadline has passed. */
  tick(now: number): RoomAction[] {
    if (this.deadline === null || now < this.deadline) return [];
    if (this.phase === "closing") return this.end({ why: "over", reason: "hung up" });
    if (this.phase === "connecting") return this.end({ why: "refused", reason: "the agent did not come" });
    return this.end({ why: "lost" });
  }

  /** Say something; what is not of muting is lost in a break, as its time has passed. */
  say(command: Exclude<Command, Start>): RoomAction[] {
    const before = this.muted;
    if (command.type === "mute") this.muted = true;
    if (command.type === "unmute") this.muted = false;
    const actions = this.muted === before ? [] : this.microphone();
    return this.phase === "live" ? [...actions, { do: "say", command }] : actions;
  }

  /** Hang up. */
  hangUp(now: number): RoomAction[] {
    if (this.phase === "live") {
      this.phase = "closing";
      this.deadline = now + CLOSED_WITHIN;
      return [{ do: "say", command: { type: "hangup" } }];
    }
    if (this.phase !== "connecting" && this.phase !== "reconnecting") return [];
    return this.end({ why: "over", reason: "hung up" });
  }

  private ready(event: Extract<Event, { type: "ready" }>): RoomAction[] {
    const { data } = event;
    if (event.call !== this.call) this.seen = 0;
    this.call = event.call;
    this.conversation = data.conversation;
    if (this.phase === "closing") return [];
    this.phase = "live";
    this.deadline = null;
    const actions: RoomAction[] = [
      { do: "tell", event },
      { do: "say", command: { type: "start", screen: true } },
    ];
    // In a call that goes on the server's word on muting is from before the break.
    if (data.muted !== this.muted) actions.push({ do: "say", command: { type: this.muted ? "mute" : "unmute" } });
    return [...actions, ...this.microphone()];
  }

  private microphone(): RoomAction[] {
    return [{ do: "open", microphone: !this.muted }];
  }

  private end(ending: Ending): RoomAction[] {
    this.phase = "ended";
    this.ending = ending;
    this.deadline = null;
    return [{ do: "leave" }];
  }
}
