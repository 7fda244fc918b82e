/** A microphone's samples, at whatever rate they come, as the frames the server takes. */

import { Resampler } from "./resampler";

/** Hertz the server hears. */
export const HEARD_RATE = 16_000;

/** Samples in a frame: 20 ms. */
export const FRAME = 320;

export class Framer {
  private readonly resampler: Resampler;
  private readonly scratch = new Float32Array(1024);
  private frame = new Int16Array(FRAME);
  private filled = 0;

  /** @param rate hertz of what is pushed. */
  constructor(rate: number) {
    this.resampler = new Resampler(rate, HEARD_RATE);
  }

  /** Take samples, and return the frames that are whole now: mono int16 at 16 kHz, 20 ms each. */
  push(samples: Float32Array): Int16Array<ArrayBuffer>[] {
    const frames: Int16Array<ArrayBuffer>[] = [];
    this.resampler.write(samples);
    for (let count; (count = this.resampler.read(this.scratch)) > 0;) {
      for (let i = 0; i < count; i++) {
        this.frame[this.filled++] = int16(this.scratch[i]!);
        if (this.filled < FRAME) continue;
        frames.push(this.frame);
        this.frame = new Int16Array(FRAME);
        this.filled = 0;
      }
    }
    return frames;
  }
}

function int16(sample: number): number {
  return Math.max(-32768, Math.min(32767, Math.round(32768 * sample)));
}
