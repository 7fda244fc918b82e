/** In the audio thread: the agent's voice is played, and what was played is reported. */

import { Playout, type PlayedReport } from "./playout";

/** What the page tells the audio thread. */
export type PlaybackOrder =
  | { order: "renew"; rate: number }
  | { order: "push"; epoch: number; samples: Int16Array }
  | { order: "clear"; epoch: number }
  | { order: "pause" }
  | { order: "unpause" }
  | { order: "latency"; seconds: number };

class Playback extends AudioWorkletProcessor {
  private readonly playout = new Playout(sampleRate);

  constructor() {
    super();
    this.port.onmessage = ({ data }: MessageEvent<PlaybackOrder>) => this.obey(data);
  }

  process(_: Float32Array[][], outputs: Float32Array[][]): boolean {
    const [left, ...others] = outputs[0] ?? [];
    if (left === undefined) return true;
    this.say(this.playout.render(left));
    for (const channel of others) channel.set(left);
    return true;
  }

  private obey(order: PlaybackOrder): void {
    switch (order.order) {
      case "renew":
        return this.playout.renew(order.rate);
      case "push":
        return this.playout.push(order.epoch, order.samples);
      case "clear":
        return this.say(this.playout.clear(order.epoch));
      case "pause":
        return this.playout.pause();
      case "unpause":
        return this.playout.unpause();
      case "latency":
        this.playout.latency = order.seconds;
    }
  }

  private say(reports: PlayedReport[]): void {
    for (const report of reports) this.port.postMessage(report);
  }
}

registerProcessor("playback", Playback);
