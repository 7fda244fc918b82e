/** The audio of a call in the browser: a microphone whose frames go up, a loudspeaker that plays and reports. */

import captureUrl from "./capture.worklet.ts?worker&url";
import { openMicrophone, type MicrophoneChoice } from "./microphone";
import type { PlayedReport } from "./playout";
import type { PlaybackOrder } from "./playback.worklet";
import playbackUrl from "./playback.worklet.ts?worker&url";

export interface SoundListener {
  /** 20 ms of the microphone: mono int16 at 16 kHz. */
  frame(frame: ArrayBuffer): void;
  /** A person has heard so much. */
  played(report: PlayedReport): void;
  /** The microphone is gone in mid-call. */
  lost(): void;
}

export class Sound {
  private microphone: { stream: MediaStream; source: MediaStreamAudioSourceNode } | null = null;
  private latency = 0;

  private constructor(
    private readonly context: AudioContext,
    private readonly capture: AudioWorkletNode,
    private readonly playback: AudioWorkletNode,
    private readonly listener: SoundListener,
  ) {
    capture.port.onmessage = ({ data }: MessageEvent<ArrayBuffer>) => listener.frame(data);
    playback.port.onmessage = ({ data }: MessageEvent<PlayedReport>) => {
      listener.played(data);
      this.tellLatency();
    };
    // A phone call, or another page, may stop the context: go on as soon as the browser lets us.
    context.onstatechange = () => {
      if (context.state !== "running" && context.state !== "closed") context.resume().catch(() => undefined);
    };
    this.tellLatency();
  }

  /**
   * Open a microphone and the loudspeaker. To be called while a click is handled: browsers want one before any sound.
   *
   * @throws MicrophoneError
   */
  static async open(choice: MicrophoneChoice, listener: SoundListener): Promise<Sound> {
    const context = new AudioContext({ latencyHint: "interactive" });
    try {
      const [stream] = await Promise.all([
        openMicrophone(choice),
        context.audioWorklet.addModule(captureUrl),
        context.audioWorklet.addModule(playbackUrl),
        context.resume(),
      ]);
      const capture = new AudioWorkletNode(context, "capture", {
        numberOfOutputs: 0,
        channelCount: 1,
        channelCountMode: "explicit",
      });
      const playback = new AudioWorkletNode(context, "playback", { numberOfInputs: 0, outputChannelCount: [1] });
      playback.connect(context.destination);
      const sound = new Sound(context, capture, playback, listener);
      sound.take(stream);
      return sound;
    } catch (error) {
      await context.close();
      throw error;
    }
  }

  /** Listen to another microphone, or treat it otherwise. @throws MicrophoneError; the old one then goes on. */
  async listen(choice: MicrophoneChoice): Promise<void> {
    this.take(await openMicrophone(choice));
  }

  /** Tell the loudspeaker something; in order with everything it was told before. */
  order(order: PlaybackOrder): void {
    this.playback.port.postMessage(order, order.order === "push" ? [order.samples.buffer] : []);
  }

  /** Let go of microphone and loudspeaker. */
  async close(): Promise<void> {
    this.release();
    this.context.onstatechange = null;
    this.capture.port.onmessage = null;
    this.playback.port.onmessage = null;
    if (this.context.state !== "closed") await this.context.close();
  }

  private take(stream: MediaStream): void {
    this.release();
    const source = this.context.createMediaStreamSource(stream);
    source.connect(this.capture);
    this.microphone = { stream, source };
    for (const track of stream.getTracks()) track.onended = () => this.listener.lost();
  }

  private release(): void {
    this.microphone?.source.disconnect();
    for (const track of this.microphone?.stream.getTracks() ?? []) {
      track.onended = null;
      track.stop();
    }
    this.microphone = null;
  }

  /** What the context renders is heard only after its own and the device's queues. */
  private tellLatency(): void {
    // Safari knows no `outputLatency`.
    const seconds = (this.context.baseLatency || 0) + (this.context.outputLatency || 0);
    if (Math.abs(seconds - this.latency) < 0.001) return;
    this.latency = seconds;
    this.order({ order: "latency", seconds });
  }
}
