/** Where the time of a turn went: its stages, one behind the other, from the end of the caller's speech on. */

import type { TurnTimed } from "../protocol/wire";

export type StageName = "recognise" | "wait" | "think" | "voice";

export interface Stage {
  name: StageName;
  /** Milliseconds after the caller's speech ended. */
  from: number;
  to: number;
}

/** What each stage is called, and what happens in it. */
export const STAGES: Record<StageName, { label: string; meaning: string }> = {
  recognise: { label: "Recognise", meaning: "the speech ended → its text is final" },
  wait: { label: "Wait", meaning: "its text is final → the words are a turn" },
  think: { label: "Think", meaning: "the words are a turn → the first text of the answer" },
  voice: { label: "Voice", meaning: "the first text of the answer → its first sound" },
};

/** Split a turn into its stages. What a stage began before the one in front of it was over cost nothing. */
export function stages(turn: TurnTimed): Stage[] {
  const ends: [StageName, number | null][] = [
    ["recognise", turn.text_final],
    ["wait", turn.committed],
    ["think", turn.first_text],
    ["voice", turn.first_sound],
  ];
  let at = 0;
  const found: Stage[] = [];
  for (const [name, end] of ends) {
    if (end === null) break;
    const to = Math.max(at, end - turn.speech_ended);
    found.push({ name, from: at, to });
    at = to;
  }
  return found;
}

/** Milliseconds from the end of speech to the end of the last stage. */
export function total(turn: TurnTimed): number {
  return stages(turn).at(-1)?.to ?? 0;
}

/** Where the axis ends that all turns share, and where its lines stand, in milliseconds. */
export function axis(turns: readonly TurnTimed[]): { end: number; lines: number[] } {
  const longest = Math.max(500, ...turns.map(total));
  const step = [100, 250, 500, 1_000, 2_000, 5_000].find((each) => longest / each <= 5) ?? 10_000;
  const count = Math.ceil(longest / step);
  return { end: count * step, lines: Array.from({ length: count + 1 }, (_, n) => n * step) };
}
