import { describe, expect, it } from "vitest";

import { Resampler } from "./resampler";

function tone(hertz: number, rate: number, seconds: number): Float32Array {
  return Float32Array.from({ length: rate * seconds }, (_, n) => Math.sin((2 * Math.PI * hertz * n) / rate));
}

function through(resampler: Resampler, samples: Float32Array, block: number): Float32Array {
  const out: number[] = [];
  const scratch = new Float32Array(700);
  const drain = (toTheEnd: boolean) => {
    for (let count; (count = resampler.read(scratch, 0, toTheEnd)) > 0;) out.push(...scratch.subarray(0, count));
  };
  for (let from = 0; from < samples.length; from += block) {
    resampler.write(samples.subarray(from, from + block));
    drain(false);
  }
  drain(true);
  return Float32Array.from(out);
}

/** The part of `got` beyond a pure tone, in decibels against full scale; the edges are left out. */
function error(got: Float32Array, want: Float32Array): number {
  let worst = 0;
  for (let n = 200; n < want.length - 200; n++) worst = Math.max(worst, Math.abs(got[n]! - want[n]!));
  return 20 * Math.log10(worst);
}

describe("a resampler", () => {
  it.each([
    [48_000, 16_000],
    [44_100, 16_000],
    [24_000, 48_000],
    [24_000, 44_100],
    [16_000, 24_000],
  ])("carries a tone from %i to %i Hz where it belongs", (from, to) => {
    const got = through(new Resampler(from, to), tone(1_000, from, 0.5), 128);
    expect(got.length).toBe(to / 2);
    expect(error(got, tone(1_000, to, 0.5))).toBeLessThan(-70);
  });

  it("lets nothing through that the lower rate cannot carry", () => {
    const got = through(new Resampler(48_000, 16_000), tone(9_000, 48_000, 0.5), 128);
    expect(error(got, new Float32Array(8_000))).toBeLessThan(-70);
  });

  it("leaves samples alone where the rates are the same", () => {
    const samples = tone(700, 16_000, 0.1);
    expect(through(new Resampler(16_000, 16_000), samples, 100)).toEqual(samples);
  });

  it("gives the same whatever the blocks it is given", () => {
    const samples = tone(440, 44_100, 0.2);
    expect(through(new Resampler(44_100, 16_000), samples, 7)).toEqual(
      through(new Resampler(44_100, 16_000), samples, 4_410),
    );
  });

  it("knows how much of the source it has read, and never more than there is", () => {
    const resampler = new Resampler(24_000, 48_000);
    resampler.write(new Float32Array(2_400));
    resampler.read(new Float32Array(1_000), 0, true);
    expect(resampler.position).toBe(500);
    resampler.read(new Float32Array(10_000), 0, true);
    expect(resampler.position).toBe(2_400);
  });
});
