import { useCallback } from "react";

import type { Pipeline } from "../call/admission";
import type { CallSnapshot, VoiceClient } from "../call/client";
import { usePushToTalk } from "../hooks/usePushToTalk";

export type Mode = "automatic" | "manual";

const MODES: { mode: Mode; label: string; hint: string }[] = [
  { mode: "automatic", label: "Hands-free", hint: "just talk; the agent notices when you are done" },
  { mode: "manual", label: "Push to talk", hint: "hold the button or the space bar while you talk" },
];

const PIPELINES: Record<Pipeline, string> = {
  cascade: "Recogniser, language model and voice",
  realtime: "Speech-to-speech model",
};

/** Before a call: how to talk, and the button that begins. */
export function StartControls(props: {
  mode: Mode;
  onMode: (mode: Mode) => void;
  /** What can answer, where there is a choice. */
  pipelines: readonly Pipeline[];
  pipeline: Pipeline | undefined;
  onPipeline: (pipeline: Pipeline) => void;
  /** Whether there is a conversation to go on with. */
  resumable: boolean;
  busy: boolean;
  /** Whether a call has just ended here: then the keys begin where its buttons were. */
  focus: boolean;
  onStart: (goOn: boolean) => void;
}) {
  return (
    <div className="controls">
      <fieldset className="modes">
        <legend className="hidden">How to talk</legend>
        {MODES.map(({ mode, label, hint }) => (
          <label key={mode} data-chosen={props.mode === mode}>
            <input type="radio" name="mode" checked={props.mode === mode} onChange={() => props.onMode(mode)} />
            <strong>{label}</strong>
            <small>{hint}</small>
          </label>
        ))}
      </fieldset>
      {props.pipelines.length > 1 && (
        <label className="field">
          <span>Answered by</span>
          <select
            value={props.pipeline ?? props.pipelines[0]}
            onChange={({ target }) => props.onPipeline(target.value as Pipeline)}
          >
            {props.pipelines.map((each) => (
              <option key={each} value={each}>
                {PIPELINES[each]}
              </option>
            ))}
          </select>
        </label>
      )}
      <div className="buttons">
        <button
          type="button"
          className="primary large"
          autoFocus={props.focus}
          disabled={props.busy}
          onClick={() => props.onStart(props.resumable)}
        >
          {props.resumable ? "Go on talking" : "Start talking"}
        </button>
        {props.resumable && (
          <button type="button" className="large" disabled={props.busy} onClick={() => props.onStart(false)}>
            New conversation
          </button>
        )}
      </div>
    </div>
  );
}

/** In a call: mute or push-to-talk, interrupt, hang up. */
export function CallControls({ client, call, mode }: { client: VoiceClient; call: CallSnapshot; mode: Mode }) {
  const speaking = call.view.agent === "speaking";
  return (
    <div className="controls">
      {mode === "manual" ? (
        <TalkButton client={client} live={call.phase === "live"} />
      ) : (
        <MuteButton client={client} muted={call.muted} />
      )}
      <div className="buttons">
        <button type="button" disabled={!speaking} onClick={() => client.interrupt()}>
          Stop speaking
        </button>
        <button type="button" className="danger" onClick={() => client.stop()}>
          Hang up
        </button>
      </div>
    </div>
  );
}

function MuteButton({ client, muted }: { client: VoiceClient; muted: boolean }) {
  return (
    <button
      type="button"
      className="large toggle"
      autoFocus
      aria-pressed={muted}
      onClick={() => (muted ? client.unmute() : client.mute())}
    >
      {muted ? "Unmute" : "Mute"}
    </button>
  );
}

function TalkButton({ client, live }: { client: VoiceClient; live: boolean }) {
  const onTalk = useCallback(() => client.unmute(), [client]);
  const onDone = useCallback(() => {
    client.mute();
    client.commit();
  }, [client]);
  const { state, talking: on, button } = usePushToTalk({ enabled: live, onTalk, onDone });
  return (
    <>
      <button
        type="button"
        className="large talk"
        autoFocus
        disabled={!live}
        aria-pressed={on}
        aria-describedby="talk-hint"
        {...button}
      >
        {state === "switched" ? "Talking: press to send" : on ? "Talking …" : "Hold to talk"}
      </button>
      <p id="talk-hint" className="hint">
        Hold it, or the space bar. A short press switches talking on until the next.
      </p>
    </>
  );
}
