/** A call, driven: the session's actions are carried out on a socket, a microphone and a loudspeaker. No React. */

import { MicrophoneError, type MicrophoneChoice } from "../audio/microphone";
import { Sound } from "../audio/sound";
import { decodeAudio } from "../protocol/codec";
import { Session, type Action, type Ending, type Opening, type Phase } from "../protocol/session";
import type { Command, Event, LevelHeard, Start } from "../protocol/wire";
import { NOTHING, reduce, type CallView } from "./view";

/** What a page draws. A new object after every change. */
export interface CallSnapshot {
  phase: Phase;
  /** Why the call ended, once it did. */
  ending: Ending | null;
  /** To be given again to go on with it. */
  conversation: string | null;
  view: CallView;
  /** As asked for, at once; and as the server says, if somebody else did it. */
  muted: boolean;
  /** One sentence on the microphone, when something is wrong with it. */
  trouble: string | null;
}

export const QUIET: LevelHeard = { level: 0, probability: 0 };

/** Bytes that may wait in the socket: a second. A network that is slower gets silence, not the past. */
const WAITING = 32_000;

const NORMAL_CLOSURE = 1000;

export class VoiceClient {
  private session = new Session();
  private socket: WebSocket | null = null;
  private sound: Sound | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private snapshot_: CallSnapshot;
  private level_ = QUIET;
  private readonly listeners = new Set<() => void>();
  private readonly levelListeners = new Set<() => void>();

  /** @param url of the socket, `ws:` or `wss:`. */
  constructor(private readonly url: string) {
    this.snapshot_ = { phase: "idle", ending: null, conversation: null, view: NOTHING, muted: false, trouble: null };
  }

  /** Begin a call. Call it from a click. An earlier conversation's lines stay when it is gone on with. */
  async start(opening: Opening, microphone: MicrophoneChoice): Promise<void> {
    if (this.sound !== null || this.snapshot_.phase === "connecting") return;
    const goesOn = opening.conversation != null && opening.conversation === this.snapshot_.conversation;
    const view = goesOn ? this.snapshot_.view : NOTHING;
    this.change({ phase: "connecting", ending: null, trouble: null, view, muted: opening.muted ?? false });
    try {
      this.sound = await Sound.open(microphone, {
        frame: (frame) => this.sendFrame(frame),
        played: (report) => this.say({ type: "played", ...report }),
        lost: () => this.change({ trouble: "The microphone is gone: connect it again, or choose another." }),
      });
    } catch (error) {
      this.change({ phase: "idle", trouble: sentence(error) });
      return;
    }
    this.do(this.session.begin(opening, performance.now()));
  }

  /** Hang up. */
  stop(): void {
    this.do(this.session.hangUp(performance.now()));
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
      await this.sound?.listen(choice);
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

  private do(actions: Action[]): void {
    for (const action of actions) {
      switch (action.do) {
        case "connect":
          this.connect();
          break;
        case "disconnect":
          this.disconnect();
          break;
        case "say":
          this.socket?.send(JSON.stringify(action.command));
          break;
        case "renew":
          this.sound?.order({ order: "renew", rate: action.ready.speaks });
          break;
        case "tell":
          this.tell(action.event);
      }
    }
    this.follow();
  }

  private say(command: Exclude<Command, Start>): void {
    this.do(this.session.say(command));
  }

  private connect(): void {
    const socket = new WebSocket(this.url);
    socket.binaryType = "arraybuffer";
    // What a socket says that was given up is nobody's business any more.
    const mine = (act: () => void) => () => this.socket === socket && act();
    socket.onopen = mine(() => this.do(this.session.opened()));
    socket.onclose = ({ code, reason }) => mine(() => this.do(this.session.closed(code, reason, performance.now())))();
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => mine(() => this.receive(data))();
    this.socket = socket;
  }

  private disconnect(): void {
    const socket = this.socket;
    this.socket = null;
    socket?.close(NORMAL_CLOSURE);
  }

  private receive(data: string | ArrayBuffer): void {
    if (typeof data === "string") return this.do(this.session.received(data));
    const audio = decodeAudio(data);
    if (audio !== null) this.sound?.order({ order: "push", ...audio });
  }

  private tell(event: Event): void {
    if (event.type === "level") {
      this.level_ = event.data;
      for (const listener of this.levelListeners) listener();
    } else if (event.type === "playout") {
      const { order, epoch } = event.data;
      this.sound?.order(order === "clear" ? { order, epoch } : { order });
    } else {
      if (event.type === "ready") this.sound?.order({ order: "unpause" });
      this.change({ view: reduce(this.snapshot_.view, event) });
    }
  }

  private sendFrame(frame: ArrayBuffer): void {
    if (this.session.phase === "live" && this.socket !== null && this.socket.bufferedAmount < WAITING) {
      this.socket.send(frame);
    }
  }

  /** Take over what the session is at, and wait for its deadline. */
  private follow(): void {
    const { phase, ending, conversation, muted, deadline } = this.session;
    const before = this.snapshot_;
    const same = phase === before.phase && ending === before.ending;
    if (!same || conversation !== before.conversation || muted !== before.muted) {
      this.change({ phase, ending, conversation, muted });
    }
    clearTimeout(this.timer);
    if (deadline !== null) {
      this.timer = setTimeout(() => this.do(this.session.tick(performance.now())), deadline - performance.now());
    }
    if (phase === "ended" && this.sound !== null) this.release();
  }

  private release(): void {
    this.disconnect();
    void this.sound?.close();
    this.sound = null;
    this.level_ = QUIET;
    for (const listener of this.levelListeners) listener();
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
