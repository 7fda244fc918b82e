/**
 * The button of push-to-talk: held it is a walkie-talkie, tapped it is a switch. It is told of presses with their time in
 * milliseconds, and says when to talk and when the caller is done.
 */

/** Milliseconds: a press this long is held; a shorter one is a tap, and talking goes on until the next. */
export const HOLD = 300;

/** Milliseconds that are recorded at least: who lets go earlier has said something nevertheless. */
export const SHORTEST = 350;

export type Talk =
  | "off"
  /** Pressed, and perhaps only tapped. */
  | "pressed"
  /** Tapped: talking goes on without a finger. */
  | "switched"
  /** Let go so early that the microphone stays open a little longer. */
  | "ending";

export type TalkAction = "talk" | "done";

export class PushToTalk {
  state: Talk = "off";
  /** When to call `tick`. */
  deadline: number | null = null;
  private since = 0;

  /** The button goes down. Repeats of a key that is held are no presses: leave them out. */
  press(now: number): TalkAction[] {
    if (this.state === "switched") return this.end(now);
    if (this.state === "pressed") return [];
    const talking = this.state === "ending";
    this.state = "pressed";
    this.deadline = null;
    this.since = now;
    return talking ? [] : ["talk"];
  }

  /** The button comes up. */
  release(now: number): TalkAction[] {
    if (this.state !== "pressed") return [];
    if (now - this.since >= HOLD) return this.end(now);
    this.state = "switched";
    return [];
  }

  /** The finger left the button, or the page lost its keys: however short it was, it is over. */
  leave(now: number): TalkAction[] {
    return this.state === "pressed" ? this.end(now) : [];
  }

  /** Nobody can talk any more: the call is over, or goes on without the button. */
  reset(): void {
    this.state = "off";
    this.deadline = null;
  }

  /** The deadline has passed. */
  tick(now: number): TalkAction[] {
    return this.deadline !== null && now >= this.deadline ? this.stop() : [];
  }

  private end(now: number): TalkAction[] {
    if (now - this.since >= SHORTEST) return this.stop();
    this.state = "ending";
    this.deadline = this.since + SHORTEST;
    return [];
  }

  private stop(): TalkAction[] {
    this.state = "off";
    this.deadline = null;
    return ["done"];
  }
}
