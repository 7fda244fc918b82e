/** The caller's microphone: which one, how it is treated, and what to do when there is none. */

export interface MicrophoneChoice {
  /** Of the browser's list; `null`: the browser's own choice. */
  deviceId: string | null;
  /** Take what the loudspeaker plays out of what the microphone hears. Without it an agent may interrupt itself. */
  echoCancellation: boolean;
  noiseSuppression: boolean;
  /** Off by default: it lifts the room between words, and a server that looks at levels hears a crowd. */
  autoGainControl: boolean;
}

export const USUAL: MicrophoneChoice = {
  deviceId: null,
  echoCancellation: true,
  noiseSuppression: true,
  autoGainControl: false,
};

/** A microphone that cannot be had. The message is one sentence, for the person in front of the page. */
export class MicrophoneError extends Error {
  override name = "MicrophoneError";
}

/** Open a microphone. @throws MicrophoneError */
export async function openMicrophone(choice: MicrophoneChoice): Promise<MediaStream> {
  const { deviceId, ...treatment } = choice;
  // Browsers leave the whole interface out where they would refuse it.
  const devices = navigator.mediaDevices as MediaDevices | undefined;
  if (devices === undefined) {
    throw new MicrophoneError("Browsers lend the microphone only to pages that come over https or from localhost.");
  }
  try {
    const audio = { ...treatment, channelCount: 1, ...(deviceId === null ? {} : { deviceId: { exact: deviceId } }) };
    return await devices.getUserMedia({ audio });
  } catch (error) {
    throw new MicrophoneError(microphoneSentence(error instanceof Error ? error.name : "", deviceId !== null));
  }
}

/** Say what a browser's refusal means, by the name of its error. */
export function microphoneSentence(name: string, chosen: boolean): string {
  switch (name) {
    case "NotAllowedError":
    case "SecurityError":
      return "This page may not use the microphone: allow it beside the address of the page, then start again.";
    case "NotFoundError":
    case "OverconstrainedError":
      return chosen
        ? "The chosen microphone is not there any more: choose another, then start again."
        : "No microphone was found: connect one, then start again.";
    case "NotReadableError":
    case "AbortError":
      return "The microphone does not work just now, perhaps because another program uses it: close that, then start again.";
    default:
      return `The microphone cannot be used (${name || "no reason given"}): try another one, or another browser.`;
  }
}
