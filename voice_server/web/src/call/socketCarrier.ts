/** A call on a socket: the session's actions are carried out on it, on a microphone and on a loudspeaker. */

import type { MicrophoneChoice } from "../audio/microphone";
import { Sound } from "../audio/sound";
import { decodeAudio } from "../protocol/codec";
import { Session, type Action, type Opening } from "../protocol/session";
import type { Command, Event, Start } from "../protocol/wire";
import type { Carrier, CarrierListener } from "./carrier";

/** Bytes that may wait in the socket: a second. A network that is slower gets silence, not the past. */
const WAITING = 32_000;

const NORMAL_CLOSURE = 1000;

export class SocketCarrier implements Carrier {
  private readonly session = new Session();
  private socket: WebSocket | null = null;
  private sound: Sound | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** @param url of the socket, `ws:` or `wss:`. */
  constructor(
    private readonly url: string,
    private readonly listener: CarrierListener,
  ) {}

  async start(opening: Opening, microphone: MicrophoneChoice): Promise<void> {
    this.sound = await Sound.open(microphone, {
      frame: (frame) => this.sendFrame(frame),
      played: (report) => this.say({ type: "played", ...report }),
      lost: () => this.listener.trouble("The microphone is gone: connect it again, or choose another."),
    });
    this.do(this.session.begin(opening, performance.now()));
  }

  stop(): void {
    this.do(this.session.hangUp(performance.now()));
  }

  say(command: Exclude<Command, Start>): void {
    this.do(this.session.say(command));
  }

  async listen(microphone: MicrophoneChoice): Promise<void> {
    await this.sound?.listen(microphone);
  }

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
    if (event.type === "playout") {
      const { order, epoch } = event.data;
      this.sound?.order(order === "clear" ? { order, epoch } : { order });
    }
    if (event.type === "ready") this.sound?.order({ order: "unpause" });
    this.listener.tell(event);
  }

  private sendFrame(frame: ArrayBuffer): void {
    if (this.session.phase === "live" && this.socket !== null && this.socket.bufferedAmount < WAITING) {
      this.socket.send(frame);
    }
  }

  /** Tell how far the session has come, and wait for its deadline. */
  private follow(): void {
    const { phase, ending, conversation, muted, deadline } = this.session;
    clearTimeout(this.timer);
    if (deadline !== null) {
      this.timer = setTimeout(() => this.do(this.session.tick(performance.now())), deadline - performance.now());
    }
    if (phase === "ended") this.release();
    this.listener.follow({ phase, ending, conversation, muted });
  }

  private release(): void {
    this.disconnect();
    void this.sound?.close();
    this.sound = null;
  }
}
