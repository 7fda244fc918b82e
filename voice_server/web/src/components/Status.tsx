import type { CallSnapshot } from "../call/client";
import type { Ending } from "../protocol/session";

export type Mood = "off" | "waiting" | "listening" | "hearing" | "thinking" | "speaking" | "muted";

/** What is going on, in one word for the eye and one sentence for everybody. */
export function mood({ phase, muted, view }: CallSnapshot): { mood: Mood; sentence: string } {
  switch (phase) {
    case "idle":
    case "ended":
      return { mood: "off", sentence: "Not in a call" };
    case "connecting":
      return { mood: "waiting", sentence: "Connecting …" };
    case "reconnecting":
      return { mood: "waiting", sentence: "The connection broke: reconnecting …" };
    case "closing":
      return { mood: "waiting", sentence: "Hanging up …" };
    case "live":
  }
  if (view.agent === "initializing") return { mood: "waiting", sentence: "The agent gets ready …" };
  if (view.compacting) return { mood: "thinking", sentence: "The agent sums up what was said before" };
  if (view.agent === "speaking") return { mood: "speaking", sentence: "The agent speaks" };
  if (view.agent === "thinking") return { mood: "thinking", sentence: "The agent thinks" };
  if (muted && view.ready?.mode === "manual") return { mood: "muted", sentence: "The agent waits for you to talk" };
  if (muted) return { mood: "muted", sentence: "You are muted" };
  return view.speaking
    ? { mood: "hearing", sentence: "The agent hears you" }
    : { mood: "listening", sentence: "The agent listens" };
}

export function Status({ call }: { call: CallSnapshot }) {
  const now = mood(call);
  return (
    <p className="status" data-mood={now.mood} role="status">
      <span className="dot" aria-hidden="true" />
      {now.sentence}
    </p>
  );
}

/** Say what an end means for the person in front of the page; `null`: nothing that they do not know. */
export function endingSentence(ending: Ending | null): string | null {
  switch (ending?.why) {
    case undefined:
    case "key":
      return null;
    case "over":
      return `The call is over: ${ending.reason.replaceAll("_", " ")}.`;
    case "busy":
      return "All lines are busy: try again in a moment.";
    case "unreachable":
      return "The server does not answer: see whether it runs, then start again.";
    case "lost":
      return "The connection was lost and could not be brought back: start again to go on with the conversation.";
    case "refused":
      return `The server refused the call: ${ending.reason}.`;
  }
}
