/**
 * The queue before the loudspeaker: what is to be played, what an order to clear leaves of it, and how much a person has
 * heard. Its only clock are the samples it is asked for.
 */

import { Resampler } from "./resampler";

/** How much of an epoch's audio was played. */
export interface PlayedReport {
  epoch: number;
  /** Milliseconds of that epoch's audio, from its beginning. */
  ms: number;
  /** Whether nothing more of it will be played. */
  final: boolean;
}

/** Reports in a second, while something is played. */
const REPORTS = 10;

/** Seconds that are queued at most. The server sends a fifth of one ahead; what comes beyond this is dropped. */
const LONGEST = 30;

interface Part {
  epoch: number;
  source: Resampler;
}

export class Playout {
  /** Seconds from a sample's rendering until it is heard: the sound device's own queue. */
  latency = 0;

  private rate: number | null = null;
  private parts: Part[] = [];
  /** Audio of an older epoch is not played. */
  private floor = 0;
  private paused = false;
  private rendered = 0;
  private nextReport = 0;
  /** Whether something was played since the last report. */
  private unreported = false;
  /** Reports on their way to the ear: `due` in rendered samples. */
  private underway: { due: number; report: PlayedReport }[] = [];

  /** @param outputRate hertz of what is rendered. */
  constructor(private readonly outputRate: number) {}

  /** A call begins: nothing is queued, epochs begin anew, and audio comes at this rate in hertz. */
  renew(rate: number): void {
    this.rate = rate;
    this.parts = [];
    this.floor = 0;
    this.paused = false;
    this.unreported = false;
    this.underway = [];
  }

  /** Queue samples of an epoch: mono int16 at the call's rate. */
  push(epoch: number, samples: Int16Array): void {
    if (this.rate === null || epoch < this.floor) return;
    let part = this.parts.at(-1);
    if (part === undefined || part.epoch !== epoch) {
      part = { epoch, source: new Resampler(this.rate, this.outputRate) };
      this.parts.push(part);
    }
    if (part.source.written - part.source.position > LONGEST * this.rate) return;
    part.source.write(Float32Array.from(samples, (sample) => sample / 32768));
  }

  /**
   * Throw away whatever is older than `epoch`, now and when it arrives late. A pause goes on.
   *
   * @returns how far each of the epochs thrown away came. What was rendered will be heard: it counts.
   */
  clear(epoch: number): PlayedReport[] {
    this.floor = Math.max(this.floor, epoch);
    const gone = this.parts.filter((part) => part.epoch < this.floor);
    this.parts = this.parts.filter((part) => part.epoch >= this.floor);
    this.underway = this.underway.filter(({ report }) => report.epoch >= this.floor);
    return gone.map((part) => this.account(part, true));
  }

  /** Fall silent at the sample. */
  pause(): void {
    if (this.paused) return;
    this.paused = true;
    this.report();
  }

  /** Go on at the sample. */
  unpause(): void {
    this.paused = false;
  }

  /**
   * Fill a block: with what is queued as far as it goes, then with silence.
   *
   * @returns reports whose audio has reached the ear by now.
   */
  render(out: Float32Array): PlayedReport[] {
    const played = this.paused ? 0 : this.play(out);
    out.fill(0, played);
    this.rendered += out.length;
    if (played > 0) this.unreported = true;
    if (played > 0 && this.rendered >= this.nextReport) this.report();
    if (played < out.length) this.report();
    return this.due();
  }

  private play(out: Float32Array): number {
    let played = 0;
    for (let part; (part = this.parts[0]) && played < out.length;) {
      played += part.source.read(out, played, true);
      if (played === out.length || this.parts.length === 1) break;
      this.send(this.account(part, true));
      this.parts.shift();
    }
    return played;
  }

  private report(): void {
    const part = this.parts[0];
    if (!this.unreported || part === undefined) return;
    this.unreported = false;
    this.nextReport = this.rendered + this.outputRate / REPORTS;
    this.send(this.account(part, false));
  }

  private send(report: PlayedReport): void {
    this.underway.push({ due: this.rendered + this.latency * this.outputRate, report });
  }

  private due(): PlayedReport[] {
    const arrived = this.underway.filter(({ due }) => due <= this.rendered);
    if (arrived.length > 0) this.underway = this.underway.filter(({ due }) => due > this.rendered);
    return arrived.map(({ report }) => report);
  }

  private account({ epoch, source }: Part, final: boolean): PlayedReport {
    return { epoch, ms: (1000 * source.position) / (this.rate ?? 1), final };
  }
}
