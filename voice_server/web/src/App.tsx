import { useEffect, useRef, useState } from "react";

import type { MicrophoneChoice } from "./audio/microphone";
import { offer, type Pipeline } from "./call/admission";
import { Composer } from "./components/Composer";
import { CallControls, StartControls, type Mode } from "./components/Controls";
import { Confirmation, Form, wantsConfirmation } from "./components/Form";
import { Goals } from "./components/Goals";
import { KeyForm } from "./components/KeyForm";
import { LevelMeter } from "./components/LevelMeter";
import { MicrophoneSettings } from "./components/MicrophoneSettings";
import { Slots } from "./components/slots";
import { endingSentence, Status } from "./components/Status";
import { Tools } from "./components/Tools";
import { Transcript } from "./components/Transcript";
import { TurnTimes, wordsOfTurns } from "./components/TurnTimes";
import { useCall } from "./hooks/useCall";
import { useMicrophones } from "./hooks/useMicrophones";

/** Where the key is kept: until the tab is closed, and for no other. */
const KEY = "voice-key";

export function App() {
  const { client, call } = useCall();
  const { microphones, choice, choose, refresh } = useMicrophones();
  const [mode, setMode] = useState<Mode>("automatic");
  const [pipelines, setPipelines] = useState<readonly Pipeline[]>([]);
  const [pipeline, setPipeline] = useState<Pipeline>();
  const { phase, ending, view } = call;
  const composer = useRef<HTMLInputElement>(null);
  const [changing, setChanging] = useState(false);
  const form = view.form;
  const confirming = form !== null && phase === "live" && wantsConfirmation(form);
  const inCall = phase === "live" || phase === "reconnecting" || phase === "closing";

  useEffect(() => {
    void offer().then((can) => setPipelines(can.pipelines));
  }, []);
  useEffect(() => {
    if (phase === "live") refresh();
  }, [phase, refresh]);

  const start = (goOn: boolean, key = sessionStorage.getItem(KEY)) => {
    const conversation = goOn ? call.conversation : null;
    void client.start({ key, conversation, mode, pipeline, muted: mode === "manual" }, choice);
  };
  const chooseMicrophone = (changes: Partial<MicrophoneChoice>) => void client.listen(choose(changes));
  const useKey = (key: string) => {
    sessionStorage.setItem(KEY, key);
    start(call.conversation !== null, key);
  };

  const say = (text: string) => {
    setChanging(false);
    client.type(text);
  };
  const change = () => {
    setChanging(true);
    composer.current?.focus();
  };

  return (
    <div className="page">
      <header>
        <h1>glove-voice</h1>
        {view.ready && (
          <p className="engines">
            {[view.ready.agent.split(":")[0], view.ready.model, view.ready.stt, view.ready.tts].join(" · ")}
          </p>
        )}
        <Status call={call} />
      </header>
      <main>
        <div className="column">
          <section className="panel" aria-label="Call">
            {inCall ? (
              <CallControls client={client} call={call} mode={mode} />
            ) : (
              <StartControls
                mode={mode}
                onMode={setMode}
                pipelines={pipelines}
                pipeline={pipeline}
                onPipeline={setPipeline}
                resumable={call.conversation !== null}
                busy={phase === "connecting"}
                focus={ending !== null}
                onStart={(goOn) => start(goOn)}
              />
            )}
            <Alerts
              sentences={[call.trouble, endingSentence(ending), inCall ? (view.failure?.message ?? null) : null]}
            />
            {inCall && <LevelMeter client={client} muted={call.muted} />}
            <details className="microphone">
              <summary>Microphone</summary>
              <MicrophoneSettings microphones={microphones} choice={choice} choose={chooseMicrophone} />
            </details>
          </section>
          {ending?.why === "key" && <KeyForm wrong={sessionStorage.getItem(KEY) !== null} onKey={useKey} />}
          <Slots
            slots={view.slots}
            resolve={(slot, value) => client.resolve(slot, value)}
            reject={(slot, reason) => client.reject(slot, reason)}
          />
          <section className="slots" aria-label="To be confirmed" aria-live="polite">
            {confirming && (
              <article className="panel slot" data-state="waiting" data-renderer="confirmation">
                <Confirmation form={form} onConfirm={() => say("Yes.")} onChange={change} />
              </article>
            )}
          </section>
          {form !== null && !confirming && (
            <section className="panel later" aria-labelledby="form">
              <h2 id="form">{form.name}</h2>
              <Form form={form} />
            </section>
          )}
          {view.goals !== null && (
            <section className="panel later" aria-labelledby="goals">
              <h2 id="goals">What is to be achieved</h2>
              <Goals goals={view.goals} />
            </section>
          )}
          <section className="panel last" aria-labelledby="tools">
            <h2 id="tools">What the agent does</h2>
            <Tools tools={view.tools} />
          </section>
        </div>
        <div className="column">
          <section className="panel talk-panel" aria-labelledby="said">
            <h2 id="said">What was said</h2>
            <Transcript lines={view.lines} words={view.words} />
            {inCall && (
              <Composer
                ref={composer}
                disabled={phase !== "live"}
                hint={changing ? "Say or type what is to be changed" : null}
                onSay={say}
              />
            )}
          </section>
          <section className="panel last" aria-labelledby="times">
            <h2 id="times">Where the time went</h2>
            <TurnTimes turns={view.turns} words={wordsOfTurns(view.lines, view.call)} />
          </section>
        </div>
      </main>
    </div>
  );
}

/** Present from the beginning, so that what appears in it is read out. */
function Alerts({ sentences }: { sentences: (string | null)[] }) {
  return (
    <div role="alert" className="alerts">
      {sentences.map((sentence) => sentence && <p key={sentence}>{sentence}</p>)}
    </div>
  );
}
