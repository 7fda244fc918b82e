/** A call in a LiveKit room: the session's actions are carried out with LiveKit's client, which is loaded for it. */

import type { LocalTrackPublication, RemoteParticipant, Room } from "livekit-client";
import { openMicrophone, type MicrophoneChoice } from "../audio/microphone";
import { RoomSession, type RoomAction } from "../protocol/roomSession";
import type { Opening } from "../protocol/session";
import type { Command, Start } from "../protocol/wire";
import { admit, RefusedError } from "./admission";
import type { Carrier, CarrierListener } from "./carrier";

/** Of the agent's events and our commands. */
const TOPIC = "glove";

/** Bytes of a data packet; what is longer goes as a text stream. */
const LARGEST_PACKET = 14_000;

export class RoomCarrier implements Carrier {
  private readonly session = new RoomSession();
  private room: Room | null = null;
  private agent: string | null = null;
  private stream: MediaStream | null = null;
  private publication: LocalTrackPublication | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly listener: CarrierListener) {}

  async start(opening: Opening, microphone: MicrophoneChoice): Promise<void> {
    this.stream = await openMicrophone(microphone);
    this.do(this.session.begin(opening, performance.now()));
    void this.enter(opening);
  }

  stop(): void {
    this.do(this.session.hangUp(performance.now()));
  }

  say(command: Exclude<Command, Start>): void {
    this.do(this.session.say(command));
  }

  async listen(microphone: MicrophoneChoice): Promise<void> {
    const stream = await openMicrophone(microphone);
    this.release();
    this.stream = stream;
    await this.publication?.audioTrack?.replaceTrack(this.track(stream), { userProvidedTrack: true });
  }

  private async enter(opening: Opening): Promise<void> {
    try {
      const [admission, { Room }] = await Promise.all([admit(opening), import("livekit-client")]);
      this.do(this.session.admitted(admission.conversation));
      if (this.session.phase !== "connecting") return;
      const room = (this.room = new Room());
      await this.follow(room);
      await room.connect(admission.url, admission.token);
      if (this.room !== room) return void room.disconnect();
      await this.publish(room);
    } catch (error) {
      this.do(
        this.session.refused(
          error instanceof RefusedError
            ? error.ending
            : { why: "refused", reason: error instanceof Error ? error.message : String(error) },
        ),
      );
    }
  }

  /** Take what happens in the room. */
  private async follow(room: Room): Promise<void> {
    const { RoomEvent, Track } = await import("livekit-client");
    const mine = (act: () => RoomAction[]) => () => this.room === room && this.do(act());
    room
      .on(RoomEvent.DataReceived, (payload, participant, _kind, topic) => {
        if (topic === TOPIC && participant?.isAgent) this.receive(new TextDecoder().decode(payload), participant);
      })
      .on(RoomEvent.TrackSubscribed, (track, _publication, participant) => {
        if (track.kind === Track.Kind.Audio && participant.isAgent) track.attach();
      })
      .on(RoomEvent.TrackUnsubscribed, (track) => void track.detach())
      .on(RoomEvent.ParticipantDisconnected, ({ identity }) => {
        if (identity === this.agent) mine(() => this.session.abandoned(performance.now()))();
      })
      .on(
        RoomEvent.Reconnecting,
        mine(() => this.session.interrupted()),
      )
      .on(
        RoomEvent.Reconnected,
        mine(() => this.session.resumed()),
      )
      .on(
        RoomEvent.Disconnected,
        mine(() => this.session.disconnected()),
      );
    room.registerTextStreamHandler(TOPIC, async (reader, { identity }) => {
      const participant = room.remoteParticipants.get(identity);
      if (participant?.isAgent) this.receive(await reader.readAll(), participant);
    });
  }

  private receive(text: string, { identity }: RemoteParticipant): void {
    this.agent = identity;
    for (const envelope of text.split("\n")) if (envelope) this.do(this.session.received(envelope));
  }

  private async publish(room: Room): Promise<void> {
    if (this.stream === null) return;
    const { Track } = await import("livekit-client");
    const source = Track.Source.Microphone;
    this.publication = await room.localParticipant.publishTrack(this.track(this.stream), { source });
    if (this.session.muted) await this.publication.mute();
    await room.startAudio();
  }

  /** The stream's one track, watched. */
  private track(stream: MediaStream): MediaStreamTrack {
    const [track] = stream.getAudioTracks();
    if (track === undefined) throw new Error("the microphone has no sound");
    track.onended = () => this.listener.trouble("The microphone is gone: connect it again, or choose another.");
    return track;
  }

  private do(actions: RoomAction[]): void {
    for (const action of actions) {
      switch (action.do) {
        case "say":
          void this.send(action.command);
          break;
        case "tell":
          this.listener.tell(action.event);
          break;
        case "open":
          void (action.microphone ? this.publication?.unmute() : this.publication?.mute());
          break;
        case "leave":
          this.leave();
      }
    }
    const { phase, ending, conversation, muted, deadline } = this.session;
    clearTimeout(this.timer);
    if (deadline !== null) {
      this.timer = setTimeout(() => this.do(this.session.tick(performance.now())), deadline - performance.now());
    }
    this.listener.follow({ phase, ending, conversation, muted });
  }

  private async send(command: Command): Promise<void> {
    const local = this.room?.localParticipant;
    if (local === undefined || this.agent === null) return;
    const text = JSON.stringify(command);
    const payload = new TextEncoder().encode(text);
    const destinationIdentities = [this.agent];
    // What cannot be sent is lost like the connection, and that is told by the room.
    const sent =
      payload.length > LARGEST_PACKET
        ? local.sendText(text, { topic: TOPIC, destinationIdentities })
        : local.publishData(payload, { topic: TOPIC, destinationIdentities, reliable: true });
    await sent.catch(() => undefined);
  }

  private leave(): void {
    const room = this.room;
    this.room = this.publication = null;
    this.release();
    void room?.disconnect();
  }

  private release(): void {
    for (const track of this.stream?.getTracks() ?? []) {
      track.onended = null;
      track.stop();
    }
    this.stream = null;
  }
}
