// In the audio thread. Both ends run at the rate of the wire, so nothing has to be resampled.

const FRAME = Math.round(sampleRate / 50);

class Capture extends AudioWorkletProcessor {
  frame = new Int16Array(FRAME);
  filled = 0;

  process([[samples]]) {
    for (const sample of samples ?? []) {
      this.frame[this.filled++] = Math.max(-32768, Math.min(32767, Math.round(sample * 32768)));
      if (this.filled < FRAME) continue;
      this.port.postMessage(this.frame.buffer, [this.frame.buffer]);
      this.frame = new Int16Array(FRAME);
      this.filled = 0;
    }
    return true;
  }
}

class Playback extends AudioWorkletProcessor {
  queue = [];
  epoch = 0;
  played = 0; // samples of this epoch
  reported = 0;
  paused = false;

  constructor() {
    super();
    this.port.onmessage = ({ data }) => this[data.order](data);
  }

  push({ epoch, samples }) {
    if (epoch < this.epoch) return;
    if (epoch > this.epoch) this.begin(epoch);
    this.queue.push(samples);
  }

  clear({ epoch }) {
    this.report(true);
    this.begin(epoch);
  }

  pause() {
    this.paused = true;
  }

  unpause() {
    this.paused = false;
  }

  begin(epoch) {
    this.queue = [];
    this.epoch = epoch;
    this.played = this.reported = 0;
  }

  report(final) {
    if (this.played === 0) return;
    this.reported = this.played;
    this.port.postMessage({ epoch: this.epoch, ms: (1000 * this.played) / sampleRate, final });
  }

  process(_, [[out]]) {
    let filled = 0;
    while (!this.paused && this.queue.length && filled < out.length) {
      const samples = this.queue[0];
      const count = Math.min(samples.length, out.length - filled);
      for (let i = 0; i < count; i++) out[filled + i] = samples[i] / 32768;
      filled += count;
      if (count === samples.length) this.queue.shift();
      else this.queue[0] = samples.subarray(count);
    }
    this.played += filled;
    const fresh = this.played - this.reported;
    if (fresh >= sampleRate / 10 || (fresh > 0 && filled < out.length)) this.report(false);
    return true;
  }
}

registerProcessor("capture", Capture);
registerProcessor("playback", Playback);
