/** What a page of one's own is made of; `App.tsx` is one example. */

export { USUAL, MicrophoneError, type MicrophoneChoice } from "./audio/microphone";
export { QUIET, VoiceClient, type CallSnapshot } from "./call/client";
export { PushToTalk } from "./call/pushToTalk";
export { axis, stages, STAGES, total, type Stage, type StageName } from "./call/timing";
export type { Line, Words } from "./call/transcript";
export { NOTHING, reduce, type CallView, type ToolActivity } from "./call/view";
export { Card } from "./components/Card";
export { Composer } from "./components/Composer";
export { CallControls, StartControls, type Mode } from "./components/Controls";
export { Fields } from "./components/Fields";
export { answer, Confirmation, Form, wantsConfirmation } from "./components/Form";
export { Goals } from "./components/Goals";
export { KeyForm } from "./components/KeyForm";
export { LevelMeter } from "./components/LevelMeter";
export { MicrophoneSettings } from "./components/MicrophoneSettings";
export { PermissionRequest } from "./components/PermissionRequest";
export { RENDERERS, Slots, type Renderers, type SlotProps } from "./components/slots";
export { endingSentence, mood, Status, type Mood } from "./components/Status";
export { Tools } from "./components/Tools";
export { Transcript } from "./components/Transcript";
export { TurnTimes, wordsOfTurns } from "./components/TurnTimes";
export { socketUrl, useCall, useLevel } from "./hooks/useCall";
export { useMicrophones } from "./hooks/useMicrophones";
export { usePushToTalk, type PushToTalkOptions } from "./hooks/usePushToTalk";
export { decodeAudio, decodeEvent } from "./protocol/codec";
export { Session, type Action, type Ending, type Opening, type Phase } from "./protocol/session";
export type * from "./protocol/wire";
