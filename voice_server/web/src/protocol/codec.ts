/** What travels on the socket, taken apart: text into events, binary messages into audio with its epoch. */

import type { Event } from "./wire";

export const VERSION = 1;

/** Every kind of event this page knows; the compiler sees to it that none is missing. */
const KNOWN: Record<Event["type"], true> = {
  ready: true,
  chat: true,
  state: true,
  speech: true,
  muted: true,
  words: true,
  turn: true,
  sound: true,
  text: true,
  utterance: true,
  heard: true,
  spoken: true,
  tool: true,
  slots: true,
  goals: true,
  forms: true,
  compaction: true,
  latency: true,
  error: true,
  ended: true,
  level: true,
  playout: true,
};

export interface AgentAudio {
  /** Raised by every clear; whatever is older than the latest clear is not to be played. */
  epoch: number;
  /** Mono, at the rate that `ready` calls `speaks`. */
  samples: Int16Array<ArrayBuffer>;
}

/** Bytes before the samples: the epoch. */
const HEADER = 4;

/**
 * Read an event.
 *
 * `null`: of a kind that is not known, as a newer server may send, or no event at all. A page cannot make anything of
 * either, and a call should not end for it.
 */
export function decodeEvent(text: string): Event | null {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof message !== "object" || message === null) return null;
  const { v, type, data } = message as Record<string, unknown>;
  const known = typeof type === "string" && Object.hasOwn(KNOWN, type);
  return v === VERSION && known && typeof data === "object" && data !== null ? (message as Event) : null;
}

/** Read the agent's voice; `null`: too short to be that. An odd byte at the end is no sample. */
export function decodeAudio(message: ArrayBuffer): AgentAudio | null {
  const bytes = message.byteLength - HEADER;
  if (bytes < 2) return null;
  const view = new DataView(message);
  const samples = new Int16Array(bytes >> 1);
  for (let i = 0; i < samples.length; i++) samples[i] = view.getInt16(HEADER + 2 * i, true);
  return { epoch: view.getUint32(0, true), samples };
}
