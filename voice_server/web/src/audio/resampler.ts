/**
 * From one sample rate to another, as the samples come: a windowed sinc, one set of taps for every phase that occurs.
 *
 * It is asked for samples, so that the same serves a microphone, which pushes, and a loudspeaker, which pulls.
 */

/** Zero crossings of the sinc on each side: a millisecond at 16 kHz, and 80 dB against aliases. */
const CROSSINGS = 16;

/** Where the passband ends, as a share of the lower Nyquist frequency: room for the filter to fall. */
const PASSBAND = 0.92;

/** Kaiser's beta for some 80 dB. */
const BETA = 8;

export class Resampler {
  private readonly up: number;
  private readonly down: number;
  private readonly half: number;
  private readonly phases: Float32Array[];
  private buffer: Float32Array;
  /** How much of the buffer is filled. */
  private filled: number;
  /** The source index of the buffer's first sample; what lies before the source is silence. */
  private start: number;
  private written_ = 0;
  private at = 0;
  private phase = 0;

  /**
   * @param from hertz of what is written.
   * @param to hertz of what is read.
   */
  constructor(from: number, to: number) {
    const common = divisor(from, to);
    this.up = to / common;
    this.down = from / common;
    this.half = from === to ? 1 : Math.ceil(CROSSINGS / (PASSBAND * Math.min(1, to / from)));
    this.phases = Array.from({ length: this.up }, (_, phase) =>
      from === to ? Float32Array.of(1, 0) : taps(phase / this.up, this.half, PASSBAND * Math.min(1, to / from)),
    );
    this.buffer = new Float32Array(4096);
    this.filled = this.half;
    this.start = -this.half;
  }

  /** Samples written so far. */
  get written(): number {
    return this.written_;
  }

  /** Samples of the source that have been read, fractions included; never more than were written. */
  get position(): number {
    return Math.min(this.at + this.phase / this.up, this.written_);
  }

  write(samples: Float32Array): void {
    this.forget();
    if (this.filled + samples.length > this.buffer.length) {
      const larger = new Float32Array(2 * (this.filled + samples.length));
      larger.set(this.buffer.subarray(0, this.filled));
      this.buffer = larger;
    }
    this.buffer.set(samples, this.filled);
    this.filled += samples.length;
    this.written_ += samples.length;
  }

  /**
   * Fill `out` from `offset` on, as far as it goes.
   *
   * @param toTheEnd whether what was written is to be read to its last sample, with silence behind it, instead of
   * waiting for the samples that would come next.
   * @returns how many samples were read.
   */
  read(out: Float32Array, offset = 0, toTheEnd = false): number {
    const last = toTheEnd ? this.written_ : this.written_ - this.half;
    let count = 0;
    for (; offset + count < out.length && this.at < last; count++) {
      out[offset + count] = this.sample();
      this.phase += this.down;
      this.at += Math.floor(this.phase / this.up);
      this.phase %= this.up;
    }
    return count;
  }

  private sample(): number {
    const weights = this.phases[this.phase]!;
    const first = this.at - this.half + 1 - this.start;
    const there = Math.min(weights.length, this.filled - first);
    let sum = 0;
    for (let k = 0; k < there; k++) sum += weights[k]! * this.buffer[first + k]!;
    return sum;
  }

  /** Let go of what no tap reaches any more. */
  private forget(): void {
    const gone = this.at - this.half - this.start;
    if (gone < 2048) return;
    this.buffer.copyWithin(0, gone, this.filled);
    this.filled -= gone;
    this.start += gone;
  }
}

/** The weights of the samples around a position `fraction` behind one of them. Their sum is 1. */
function taps(fraction: number, half: number, cutoff: number): Float32Array {
  const weights = new Float32Array(2 * half);
  let sum = 0;
  for (let k = 0; k < weights.length; k++) {
    const x = k - half + 1 - fraction;
    const angle = Math.PI * cutoff * x;
    const sinc = angle === 0 ? 1 : Math.sin(angle) / angle;
    weights[k] = sinc * kaiser(x / half);
    sum += weights[k]!;
  }
  return weights.map((weight) => weight / sum);
}

function kaiser(x: number): number {
  return Math.abs(x) >= 1 ? 0 : bessel(BETA * Math.sqrt(1 - x * x)) / bessel(BETA);
}

/** The modified Bessel function of order zero, by its power series. */
function bessel(x: number): number {
  let sum = 1;
  let term = 1;
  for (let k = 1; term > sum * 1e-9; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}
