import { useCallback, useEffect, useState } from "react";

import { USUAL, type MicrophoneChoice } from "../audio/microphone";

/** The microphones there are, and how the chosen one is treated. Their names are told only once one was used. */
export function useMicrophones(): {
  microphones: readonly MediaDeviceInfo[];
  choice: MicrophoneChoice;
  choose: (changes: Partial<MicrophoneChoice>) => MicrophoneChoice;
  /** Look again: after a microphone was opened, names are told. */
  refresh: () => void;
} {
  const [microphones, setMicrophones] = useState<readonly MediaDeviceInfo[]>([]);
  const [choice, setChoice] = useState(USUAL);

  const refresh = useCallback(() => {
    const devices = navigator.mediaDevices as MediaDevices | undefined;
    const found = devices?.enumerateDevices() ?? Promise.resolve([]);
    found.then(
      (all) => setMicrophones(all.filter(({ kind, deviceId }) => kind === "audioinput" && deviceId !== "")),
      () => setMicrophones([]),
    );
  }, []);

  useEffect(() => {
    refresh();
    const devices = navigator.mediaDevices as MediaDevices | undefined;
    devices?.addEventListener("devicechange", refresh);
    return () => devices?.removeEventListener("devicechange", refresh);
  }, [refresh]);

  const choose = (changes: Partial<MicrophoneChoice>) => {
    const chosen = { ...choice, ...changes };
    setChoice(chosen);
    return chosen;
  };
  return { microphones, choice, choose, refresh };
}
