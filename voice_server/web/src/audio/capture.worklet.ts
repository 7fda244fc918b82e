/** In the audio thread: the microphone's samples become frames for the server. */

import { Framer } from "./framer";

class Capture extends AudioWorkletProcessor {
  private readonly framer = new Framer(sampleRate);

  process(inputs: Float32Array[][]): boolean {
    const samples = inputs[0]?.[0];
    if (samples === undefined) return true;
    for (const frame of this.framer.push(samples)) this.port.postMessage(frame.buffer, [frame.buffer]);
    return true;
  }
}

registerProcessor("capture", Capture);
