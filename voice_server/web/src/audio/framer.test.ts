import { expect, it } from "vitest";

import { FRAME, Framer } from "./framer";

it("makes fifty frames of a second, whatever the microphone's rate", () => {
  for (const rate of [16_000, 44_100, 48_000]) {
    const framer = new Framer(rate);
    let frames = 0;
    for (let n = 0; n < rate; n += 128) frames += framer.push(new Float32Array(Math.min(128, rate - n))).length;
    expect(frames, `${rate} Hz`).toBe(49); // the last one waits for what the filter looks ahead
    frames += framer.push(new Float32Array(rate / 50)).length;
    expect(frames, `${rate} Hz`).toBe(50);
  }
});

it("holds what is too loud to the ends of the scale", () => {
  const [frame] = new Framer(16_000).push(new Float32Array(FRAME + 1).fill(1.5));
  expect(frame).toEqual(new Int16Array(FRAME).fill(32767));
});
