import { describe, expect, it } from "vitest";

import { Playout, type PlayedReport } from "./playout";

const RATE = 24_000;
const BLOCK = 128;

/** Rates are the same here, so that what comes out can be compared sample by sample. */
function playout(): Playout {
  const queue = new Playout(RATE);
  queue.renew(RATE);
  return queue;
}

function samples(count: number, value = 8192): Int16Array {
  return new Int16Array(count).fill(value);
}

function render(queue: Playout, blocks: number): { heard: Float32Array; reports: PlayedReport[] } {
  const heard = new Float32Array(blocks * BLOCK);
  const reports: PlayedReport[] = [];
  for (let n = 0; n < blocks; n++) reports.push(...queue.render(heard.subarray(n * BLOCK, (n + 1) * BLOCK)));
  return { heard, reports };
}

describe("what is played", () => {
  it("is what was pushed, then silence", () => {
    const queue = playout();
    queue.push(0, samples(200));
    const { heard } = render(queue, 2);
    expect([...heard.subarray(0, 200)].every((sample) => sample === 0.25)).toBe(true);
    expect([...heard.subarray(200)].every((sample) => sample === 0)).toBe(true);
  });

  it("is nothing of an epoch that was cleared, also when it arrives late", () => {
    const queue = playout();
    queue.push(0, samples(1000));
    queue.clear(1);
    queue.push(0, samples(1000));
    expect(render(queue, 8).heard.every((sample) => sample === 0)).toBe(true);
    queue.push(1, samples(BLOCK, 16384));
    expect(render(queue, 1).heard.every((sample) => sample === 0.5)).toBe(true);
  });

  it("goes on at the very sample where it was paused", () => {
    const queue = playout();
    queue.push(
      0,
      Int16Array.from({ length: 4 * BLOCK }, (_, n) => n * 32),
    );
    render(queue, 1);
    queue.pause();
    expect(render(queue, 3).heard.every((sample) => sample === 0)).toBe(true);
    queue.unpause();
    expect(render(queue, 1).heard[0]).toBe((BLOCK * 32) / 32768);
  });

  it("stays paused over a clear, until it is told to go on", () => {
    const queue = playout();
    queue.push(0, samples(1000));
    queue.pause();
    queue.clear(1);
    queue.push(1, samples(1000));
    expect(render(queue, 1).heard[0]).toBe(0);
    queue.unpause();
    expect(render(queue, 1).heard[0]).toBe(0.25);
  });

  it("is nothing before a call says its rate, and nothing of the call before", () => {
    const queue = new Playout(RATE);
    queue.push(0, samples(1000));
    expect(render(queue, 1).heard[0]).toBe(0);
    queue.renew(RATE);
    queue.push(7, samples(1000));
    queue.clear(9);
    queue.renew(RATE);
    queue.push(0, samples(BLOCK));
    expect(render(queue, 1).heard[0]).toBe(0.25);
  });

  it("is bounded, whatever is pushed", () => {
    const queue = playout();
    for (let second = 0; second < 100; second++) queue.push(0, samples(RATE));
    const { reports } = render(queue, (40 * RATE) / BLOCK);
    expect(reports.at(-1)!.ms).toBeLessThanOrEqual(32_000);
  });
});

describe("reports", () => {
  it("come ten times a second, and when it has run dry", () => {
    const queue = playout();
    queue.push(0, samples(RATE));
    const { reports } = render(queue, (2 * RATE) / BLOCK);
    expect(reports.length).toBeGreaterThanOrEqual(10);
    expect(reports.length).toBeLessThanOrEqual(11);
    expect(reports.at(-1)).toEqual({ epoch: 0, ms: 1000, final: false });
    for (const [index, report] of reports.entries())
      if (index) expect(report.ms).toBeGreaterThan(reports[index - 1]!.ms);
  });

  it("are silent while nothing is played", () => {
    expect(render(playout(), 1000).reports).toEqual([]);
  });

  it("count source time when the loudspeaker has another rate", () => {
    const queue = new Playout(44_100);
    queue.renew(RATE);
    queue.push(0, samples(RATE / 2));
    expect(render(queue, 400).reports.at(-1)).toEqual({ epoch: 0, ms: 500, final: false });
  });

  it("wait for the sound device, as the ear does", () => {
    const queue = playout();
    queue.latency = 0.05;
    queue.push(0, samples(BLOCK));
    const late = Math.ceil((0.05 * RATE) / BLOCK);
    expect(render(queue, late).reports).toEqual([]);
    expect(render(queue, 3).reports.at(-1)!.ms).toBeCloseTo((1000 * BLOCK) / RATE);
  });

  it("say at a clear how far it came, with what is on its way to the ear, and nothing of it afterwards", () => {
    const queue = playout();
    queue.latency = 0.05;
    queue.push(3, samples(RATE));
    render(queue, 3);
    expect(queue.clear(4)).toEqual([{ epoch: 3, ms: (3000 * BLOCK) / RATE, final: true }]);
    expect(render(queue, 100).reports).toEqual([]);
    expect(queue.clear(4)).toEqual([]);
  });

  it("say at a pause how far it came", () => {
    const queue = playout();
    queue.push(0, samples(RATE));
    render(queue, 2);
    queue.pause();
    expect(render(queue, 1).reports.at(-1)!.ms).toBeCloseTo((2000 * BLOCK) / RATE);
  });
});
