/**
 * A call as a client sees it, without any socket: told what happens, it says what to do.
 *
 * It opens and comes back, remembers how far it was told, and what the server must know again after a break. Times are
 * milliseconds of any clock that only goes forward.
 */

import { backoff } from "./backoff";
import { decodeEvent } from "./codec";
import type { CallReady, Command, Event, Start } from "./wire";

/** Milliseconds a server may take from connecting to `ready`. */
export const READY_WITHIN = 8_000;

/** Milliseconds a server may take to close a call that was hung up. */
export const CLOSED_WITHIN = 1_000;

export type Phase =
  | "idle"
  | "connecting"
  | "live"
  /** It was live; the socket broke, and it is tried to come back. */
  | "reconnecting"
  /** It was hung up, and the server's last words are waited for. */
  | "closing"
  | "ended";

/** Why a call ended: what a person can do about it differs. */
export type Ending =
  | { why: "over"; reason: string }
  /** The server wants a key, or another one. */
  | { why: "key" }
  | { why: "busy" }
  /** No server answers at all. */
  | { why: "unreachable" }
  /** It was live, and could not be brought back. */
  | { why: "lost" }
  /** The server refused, and said why. */
  | { why: "refused"; reason: string };

export type Action =
  | { do: "connect" }
  | { do: "disconnect" }
  | { do: "say"; command: Command }
  /** Something the page is to show. */
  | { do: "tell"; event: Event }
  /** Audio of an earlier call is still queued under epochs that begin anew: forget them. */
  | { do: "renew"; ready: CallReady };

export interface Opening {
  key?: string | null;
  /** The conversation to go on with. */
  conversation?: string | null;
  mode?: "automatic" | "manual";
  /** How speech becomes answers; left out, as the server is set. */
  pipeline?: "cascade" | "realtime" | undefined;
  muted?: boolean;
}

/** Closes that say no to this client as it is: trying again changes nothing. */
const CODES = { over: 1000, busy: 1013, misunderstood: 4400, key: 4401, taken: 4409 } as const;

export class Session {
  phase: Phase = "idle";
  /** Why, once it is `ended`. */
  ending: Ending | null = null;
  /** The conversation's id, from the first `ready` on; to be given again to go on with it. */
  conversation: string | null = null;
  /** When to call `tick`. */
  deadline: number | null = null;

  /** Whether the caller is muted: as was asked for last, here or at the server. */
  muted = false;

  private opening: Opening = {};
  private call: string | null = null;
  private seen = 0;
  private delays: Iterator<number, void> = backoff();
  private over: string | null = null;
  private connected = false;

  /** Begin a call. */
  begin(opening: Opening, now: number): Action[] {
    this.phase = "connecting";
    this.ending = null;
    this.over = null;
    this.opening = opening;
    this.muted = opening.muted ?? false;
    this.conversation = opening.conversation ?? null;
    this.call = null;
    this.seen = 0;
    return this.connect(now);
  }

  /** The socket is open. */
  opened(): Action[] {
    if (this.phase !== "connecting" && this.phase !== "reconnecting") return [];
    const start: Start = { type: "start", muted: this.muted, pauses: true, screen: true };
    if (this.opening.mode) start.mode = this.opening.mode;
    if (this.opening.pipeline) start.pipeline = this.opening.pipeline;
    if (this.opening.key) start.key = this.opening.key;
    if (this.conversation) start.conversation = this.conversation;
    if (this.call !== null) start.after = this.seen;
    return [{ do: "say", command: start }];
  }

  /** A text message came. */
  received(text: string): Action[] {
    const event = decodeEvent(text);
    if (event === null || this.phase === "ended" || this.phase === "idle") return [];
    if (event.type === "ready") return this.ready(event);
    if (event.seq !== null) {
      if (event.call === this.call && event.seq <= this.seen) return [];
      this.seen = event.seq;
    }
    if (event.type === "muted") this.muted = event.data.muted;
    if (event.type === "ended") this.over = event.data.reason;
    return [{ do: "tell", event }];
  }

  /** The socket is closed, or could not be opened (code 1006). */
  closed(code: number, reason: string, now: number): Action[] {
    this.connected = false;
    if (this.phase === "idle" || this.phase === "ended") return [];
    const ending = this.verdict(code, reason);
    if (ending !== null) return this.end(ending);
    this.phase = "reconnecting";
    return this.wait(now);
  }

  /** The deadline has passed. */
  tick(now: number): Action[] {
    if (this.deadline === null || now < this.deadline) return [];
    this.deadline = null;
    if (this.phase === "closing") return [{ do: "disconnect" }, ...this.end({ why: "over", reason: "hung up" })];
    if (!this.connected) return this.connect(now);
    // It is connected, and no `ready` came. Its close comes later, or never: it is not waited for.
    this.connected = false;
    if (this.phase === "connecting") return [{ do: "disconnect" }, ...this.end({ why: "unreachable" })];
    return [{ do: "disconnect" }, ...this.wait(now)];
  }

  /** Say something. What is said of muting holds over breaks; all else is lost in one, as its time has passed. */
  say(command: Exclude<Command, Start>): Action[] {
    if (command.type === "mute") this.muted = true;
    if (command.type === "unmute") this.muted = false;
    return this.phase === "live" ? [{ do: "say", command }] : [];
  }

  /** Hang up. */
  hangUp(now: number): Action[] {
    if (this.phase === "live") {
      this.phase = "closing";
      this.deadline = now + CLOSED_WITHIN;
      return [{ do: "say", command: { type: "hangup" } }];
    }
    if (this.phase !== "connecting" && this.phase !== "reconnecting") return [];
    return [{ do: "disconnect" }, ...this.end({ why: "over", reason: "hung up" })];
  }

  private connect(now: number): Action[] {
    this.connected = true;
    this.deadline = now + READY_WITHIN;
    return [{ do: "connect" }];
  }

  private wait(now: number): Action[] {
    const next = this.delays.next();
    if (next.done) return this.end({ why: "lost" });
    this.deadline = now + next.value;
    return [];
  }

  private ready(event: Extract<Event, { type: "ready" }>): Action[] {
    const { data } = event;
    const actions: Action[] = [];
    if (!data.resumed || event.call !== this.call) {
      this.seen = 0;
      actions.push({ do: "renew", ready: data });
    }
    this.call = event.call;
    this.conversation = data.conversation;
    this.delays = backoff();
    this.deadline = null;
    if (this.phase !== "closing") this.phase = "live";
    actions.push({ do: "tell", event });
    // In a call that goes on the server's word on muting is from before the break.
    if (data.muted !== this.muted) actions.push(...this.say({ type: this.muted ? "mute" : "unmute" }));
    return actions;
  }

  /** What a close means; `null`: come back. */
  private verdict(code: number, reason: string): Ending | null {
    if (this.over !== null || this.phase === "closing") return { why: "over", reason: this.over ?? "hung up" };
    if (code === CODES.over) return { why: "over", reason: reason || "the server ended it" };
    if (code === CODES.key) return { why: "key" };
    if (code === CODES.misunderstood) return { why: "refused", reason };
    if (this.phase !== "connecting") return null;
    if (code === CODES.busy) return { why: "busy" };
    return reason ? { why: "refused", reason } : { why: "unreachable" };
  }

  private end(ending: Ending): Action[] {
    this.phase = "ended";
    this.ending = ending;
    this.deadline = null;
    return [];
  }
}
