/** A call, for who draws it: what is known of it, and what can be done. No React. */

import { MicrophoneError, type MicrophoneChoice } from "../audio/microphone";
import type { Opening } from "../protocol/session";
import type { Command, Event, LevelHeard, Start } from "../protocol/wire";
import type { Carrier, CarrierListener, Course } from "./carrier";
import { NOTHING, reduce, type CallView } from "./view";

/** What a page draws. A new object after every change. */
export interface CallSnapshot extends Course {
  view: CallView;
  /** One sentence on the microphone, when something is wrong with it. */
  trouble: string | null;
}

export const QUIET: LevelHeard = { level: 0, probability: 0 };

export class VoiceClient {
  private carrier: Carrier | null = null;
  private snapshot_: CallSnapshot;
  private level_ = QUIET;
  private readonly listeners = new Set<() => void>();
  private readonly levelListeners = new Set<() => void>();

  /** @param carry makes what carries a call: a new one for each. */
  constructor(private readonly carry: (listener: CarrierListener) => Promise<Carrier>) {
    this.snapshot_ = { phase: "idle", ending: null, conversation: null, view: NOTHING, muted: false, trouble: null };
  }

  /** Begin a call. Call it from a click. An earlier conversation's lines stay when it is gone on with. */
  async start(opening: Opening, microphone: MicrophoneChoice): Promise<void> {
    if (this.carrier !== null || this.snapshot_.phase === "connecting") return;
    const goesOn = opening.conversation != null && opening.conversation === this.snapshot_.conversation;
    const view = goesOn ? this.snapshot_.view : NOTHING;
    this.change({ phase: "connecting", ending: null, trouble: null, view, muted: opening.muted ?? false });
    try {
      this.carrier = await this.carry({
        follow: (course) => this.follow(course),
        tell: (event) => this.tell(event),
        trouble: (trouble) => this.change({ trouble }),
      });
      await this.carrier.start(opening, microphone);
    } catch (error) {
      this.carrier = null;
      this.change({ phase: "idle", trouble: sentence(error) });
    }
  }

  /** Hang up. */
  stop(): void {
    this.carrier?.stop();
  }

  mute(): void {
    this.say({ type: "mute" });
  }

  unmute(): void {
    this.say({ type: "unmute" });
  }

  /** Answer what was said, without waiting for more. */
  commit(): void {
    this.say({ type: "commit" });
  }

  /** Say something in writing: it is a turn at once, and the agent falls silent for it. */
  type(text: string): void {
    this.say({ type: "say", text });
  }

  /** Make the agent stop talking. */
  interrupt(): void {
    this.say({ type: "interrupt" });
  }

  resolve(slot: string, value: unknown): void {
    this.say({ type: "resolve", slot, value });
  }

  reject(slot: string, reason?: string): void {
    this.say({ type: "reject", slot, ...(reason === undefined ? {} : { reason }) });
  }

  /** Use another microphone, or treat it otherwise, from now on. */
  async listen(choice: MicrophoneChoice): Promise<void> {
    try {
      await this.carrier?.listen(choice);
      this.change({ trouble: null });
    } catch (error) {
      this.change({ trouble: sentence(error) });
    }
  }

  readonly snapshot = (): CallSnapshot => this.snapshot_;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** The caller's line, ten times a second: apart from the rest, so that a meter alone is drawn that often. */
  readonly level = (): LevelHeard => this.level_;

  readonly subscribeLevel = (listener: () => void): (() => void) => {
    this.levelListeners.add(listener);
    return () => this.levelListeners.delete(listener);
  };

  private say(command: Exclude<Command, Start>): void {
    this.carrier?.say(command);
  }

  private tell(event: Event): void {
    if (event.type === "level") this.hear(event.data);
    else if (event.type !== "playout") this.change({ view: reduce(this.snapshot_.view, event) });
  }

  private hear(level: LevelHeard): void {
    this.level_ = level;
    for (const listener of this.levelListeners) listener();
  }

  private follow(course: Course): void {
    const before = this.snapshot_;
    const names = ["phase", "ending", "conversation", "muted"] as const;
    if (names.some((name) => course[name] !== before[name])) this.change(course);
    if (course.phase === "ended" && this.carrier !== null) {
      this.carrier = null;
      this.hear(QUIET);
    }
  }

  private change(changes: Partial<CallSnapshot>): void {
    this.snapshot_ = { ...this.snapshot_, ...changes };
    for (const listener of this.listeners) listener();
  }
}

function sentence(error: unknown): string {
  if (error instanceof MicrophoneError) return error.message;
  return `This browser cannot play or record sound here (${error instanceof Error ? error.message : String(error)}).`;
}
