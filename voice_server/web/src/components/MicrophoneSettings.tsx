import type { MicrophoneChoice } from "../audio/microphone";

const TREATMENTS = [
  { name: "echoCancellation", label: "Echo cancellation", hint: "off only with headphones" },
  { name: "noiseSuppression", label: "Noise suppression", hint: "against fans and streets" },
  { name: "autoGainControl", label: "Automatic gain", hint: "for quiet microphones" },
] as const;

export interface MicrophoneSettingsProps {
  microphones: readonly MediaDeviceInfo[];
  choice: MicrophoneChoice;
  choose: (changes: Partial<MicrophoneChoice>) => void;
}

/** Which microphone is used, and what the browser does to its sound. Works in mid-call too. */
export function MicrophoneSettings({ microphones, choice, choose }: MicrophoneSettingsProps) {
  return (
    <div className="settings">
      <label className="field">
        <span>Microphone</span>
        <select value={choice.deviceId ?? ""} onChange={({ target }) => choose({ deviceId: target.value || null })}>
          <option value="">The browser’s choice</option>
          {microphones.map(({ deviceId, label }, index) => (
            <option key={deviceId} value={deviceId}>
              {label || `Microphone ${index + 1}`}
            </option>
          ))}
        </select>
      </label>
      <fieldset>
        <legend className="hidden">Treatment of the sound</legend>
        {TREATMENTS.map(({ name, label, hint }) => (
          <label key={name} className="check">
            <input
              type="checkbox"
              checked={choice[name]}
              onChange={({ target }) => choose({ [name]: target.checked })}
            />
            <span>
              {label} <small>{hint}</small>
            </span>
          </label>
        ))}
      </fieldset>
    </div>
  );
}
