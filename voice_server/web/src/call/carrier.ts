/** What carries a call between the page and the agent: a socket, or a room. */

import type { MicrophoneChoice } from "../audio/microphone";
import type { Ending, Opening, Phase } from "../protocol/session";
import type { Command, Event, Start } from "../protocol/wire";

/** How far a call has come. */
export interface Course {
  phase: Phase;
  /** Why the call ended, once it did. */
  ending: Ending | null;
  /** To be given again to go on with it. */
  conversation: string | null;
  /** As asked for, at once; and as the server says, if somebody else did it. */
  muted: boolean;
}

export interface CarrierListener {
  /** The call has come as far as this. */
  follow(course: Course): void;
  /** Something the page is to show. */
  tell(event: Event): void;
  /** One sentence on the microphone, when something is wrong with it. */
  trouble(sentence: string): void;
}

export interface Carrier {
  /** Open the microphone and begin a call. Once. @throws MicrophoneError; then nothing has begun. */
  start(opening: Opening, microphone: MicrophoneChoice): Promise<void>;
  /** Hang up. */
  stop(): void;
  say(command: Exclude<Command, Start>): void;
  /** Use another microphone, or treat it otherwise, from now on. @throws MicrophoneError; the old one then goes on. */
  listen(microphone: MicrophoneChoice): Promise<void>;
}
