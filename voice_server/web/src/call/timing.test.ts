import { describe, expect, it } from "vitest";

import type { TurnTimed } from "../protocol/wire";
import { axis, stages, total } from "./timing";

const TURN: TurnTimed = {
  turn: 0,
  speech_ended: 5_000,
  text_final: 5_180,
  committed: 5_400,
  first_text: 5_420,
  first_sound: 5_600,
  reason: "finished",
};

describe("the stages of a turn", () => {
  it("stand one behind the other from the end of speech on", () => {
    expect(stages(TURN)).toEqual([
      { name: "recognise", from: 0, to: 180 },
      { name: "wait", from: 180, to: 400 },
      { name: "think", from: 400, to: 420 },
      { name: "voice", from: 420, to: 600 },
    ]);
    expect(total(TURN)).toBe(600);
  });

  it("take no time that another had already taken: a draft was ready before the turn was one", () => {
    const [, , think] = stages({ ...TURN, first_text: 5_300 });
    expect(think).toEqual({ name: "think", from: 400, to: 400 });
  });

  it("end where the turn did", () => {
    expect(stages({ ...TURN, first_text: null, first_sound: null }).map(({ name }) => name)).toEqual([
      "recognise",
      "wait",
    ]);
  });
});

it("the axis has room for the longest turn, and no more lines than have room on a phone", () => {
  expect(axis([])).toEqual({ end: 500, lines: [0, 100, 200, 300, 400, 500] });
  for (const late of [600, 1_499, 1_500, 1_501, 9_000, 70_000]) {
    const { end, lines } = axis([TURN, { ...TURN, first_sound: 5_000 + late }]);
    expect(end).toBeGreaterThanOrEqual(late);
    expect(lines.length).toBeLessThanOrEqual(8);
    expect(lines.at(-1)).toBe(end);
  }
});
