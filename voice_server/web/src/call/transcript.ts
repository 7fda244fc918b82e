/** What was said: the caller's words as they became turns, and the agent's as far as they were heard. */

import type {
  CallerTurn,
  CallerWords,
  IgnoredSound,
  UtteranceBegun,
  UtteranceClosed,
  UtteranceHeard,
} from "../protocol/wire";

/** Recognised, and no turn yet. */
export type Words = CallerWords;

export type Line =
  | { by: "caller"; id: string; text: string }
  | {
      by: "agent";
      id: string;
      /** What was heard of it so far: nothing that was only written. */
      text: string;
      /** `reply`, `greeting`, `narration` … */
      kind: string;
      state: "speaking" | "heard" | "interrupted";
    }
  /** A sound that was no turn. */
  | { by: "sound"; id: string; kind: string; text: string }
  /** Something the page says itself. */
  | { by: "page"; id: string; text: string };

/** Lines that are kept: some hours of talk. */
const KEPT = 1_000;

export function addWords(words: readonly Words[], heard: CallerWords): Words[] {
  const others = words.filter(({ segment }) => segment !== heard.segment);
  return heard.text ? [...others, heard].sort((a, b) => a.segment - b.segment) : others;
}

export function commit(lines: readonly Line[], call: string, { turn, text }: CallerTurn): Line[] {
  return add(lines, { by: "caller", id: `${call}/turn/${turn}`, text });
}

export function ignore(lines: readonly Line[], id: string, { kind, text }: IgnoredSound): Line[] {
  return add(lines, { by: "sound", id, kind, text });
}

export function note(lines: readonly Line[], id: string, text: string): Line[] {
  return add(lines, { by: "page", id, text });
}

export function speak(lines: readonly Line[], call: string, { utterance, kind }: UtteranceBegun): Line[] {
  return set(lines, { by: "agent", id: agentId(call, utterance), kind, text: "", state: "speaking" });
}

export function hear(lines: readonly Line[], call: string, { utterance, text }: UtteranceHeard): Line[] {
  const id = agentId(call, utterance);
  const before = lines.find((line) => line.id === id);
  if (before?.by === "agent") return lines.map((line) => (line === before ? { ...before, text } : line));
  return add(lines, { by: "agent", id, kind: "reply", text, state: "speaking" });
}

/** An utterance is over. One of which nothing was heard was never said. */
export function close(lines: readonly Line[], call: string, closed: UtteranceClosed): Line[] {
  const id = agentId(call, closed.utterance);
  if (!closed.heard) return lines.filter((line) => line.id !== id);
  const state = closed.interrupted ? "interrupted" : "heard";
  return set(lines, { by: "agent", id, kind: closed.kind, text: closed.heard, state });
}

function agentId(call: string, utterance: number): string {
  return `${call}/utterance/${utterance}`;
}

/** Put a line where the one of its id stands, or at the end. */
function set(lines: readonly Line[], line: Line): Line[] {
  return lines.some(({ id }) => id === line.id)
    ? lines.map((old) => (old.id === line.id ? line : old))
    : add(lines, line);
}

function add(lines: readonly Line[], line: Line): Line[] {
  return [...lines, line].slice(-KEPT);
}
