/** What a page knows of a call: every event changes it a little. Plain values, so that any page can draw them. */

import type {
  AgentState,
  CallReady,
  Event,
  Failure,
  FormShown,
  GoalsShown,
  SlotShown,
  ToolChanged,
  TurnTimed,
} from "../protocol/wire";
import { addWords, close, commit, hear, ignore, note, speak, type Line, type Words } from "./transcript";

export interface ToolActivity extends ToolChanged {
  /** Milliseconds since the call began. */
  began: number;
}

export interface CallView {
  ready: CallReady | null;
  /** The call's id: ids of turns and utterances begin anew with it. */
  call: string;
  agent: AgentState;
  /** Whether perhaps the caller speaks. */
  speaking: boolean;
  /** The stretch of speech that is, or was last, being heard. */
  segment: number | null;
  lines: readonly Line[];
  /** What was recognised and is no turn yet. */
  words: readonly Words[];
  /** Latest last. */
  tools: readonly ToolActivity[];
  slots: readonly SlotShown[];
  /** What the agent has to achieve; `null`: nothing it tells of. */
  goals: GoalsShown | null;
  /** The form that was written to last; `null`: none. */
  form: FormShown | null;
  /** Whether a conversation that has become long is being summed up. */
  compacting: boolean;
  /** Latest last. */
  turns: readonly TurnTimed[];
  /** The latest thing that failed. */
  failure: Failure | null;
}

export const NOTHING: CallView = {
  ready: null,
  call: "",
  agent: "initializing",
  speaking: false,
  segment: null,
  lines: [],
  words: [],
  tools: [],
  slots: [],
  goals: null,
  form: null,
  compacting: false,
  turns: [],
  failure: null,
};

/** Tools and turns that are kept: a page that is open all day stays quick. */
const KEPT = 50;

/** Let an event change what is known. `level` and `playout` are none of its business: they are gone at once. */
export function reduce(view: CallView, event: Event): CallView {
  switch (event.type) {
    case "ready":
      return begin(view, event.call, event.data);
    case "state":
      return { ...view, agent: event.data.state };
    case "speech":
      return { ...view, speaking: event.data.speaking, segment: event.data.segment };
    case "words":
      return { ...view, words: addWords(view.words, event.data) };
    case "turn":
      return { ...view, words: [], lines: commit(view.lines, view.call, event.data), failure: null };
    case "sound":
      return {
        ...view,
        words: view.words.filter(({ segment }) => segment !== view.segment),
        lines: ignore(view.lines, `${view.call}/sound/${event.seq}`, event.data),
      };
    case "utterance":
      return { ...view, lines: speak(view.lines, view.call, event.data) };
    case "heard":
      return { ...view, lines: hear(view.lines, view.call, event.data) };
    case "spoken":
      return { ...view, lines: close(view.lines, view.call, event.data) };
    case "tool":
      return { ...view, tools: use(view.tools, event.data, event.t_ms) };
    case "slots":
      return { ...view, slots: event.data.slots };
    case "goals":
      return { ...view, goals: event.data.program === null ? null : event.data };
    case "forms":
      return { ...view, form: event.data.forms[0] ?? null };
    case "compaction":
      return { ...view, compacting: event.data.running };
    case "latency":
      return {
        ...view,
        turns: [...view.turns.filter(({ turn }) => turn !== event.data.turn), event.data].slice(-KEPT),
      };
    case "error":
      return { ...view, failure: event.data };
    case "ended":
      return { ...view, speaking: false, words: [], slots: [], compacting: false };
    case "chat":
    case "muted":
    case "text":
    case "level":
    case "playout":
      return view;
  }
}

/** A call goes on, or another begins in the same conversation: what was said stays, what was going on is over. */
function begin(view: CallView, call: string, ready: CallReady): CallView {
  if (ready.resumed && call === view.call) return { ...view, ready };
  const lines = view.lines.length ? note(view.lines, `${call}/begin`, "The conversation goes on in a new call.") : [];
  return { ...NOTHING, ready, call, lines };
}

function use(tools: readonly ToolActivity[], change: ToolChanged, at: number): ToolActivity[] {
  const before = tools.find(({ call_id }) => call_id === change.call_id);
  if (before === undefined) return [...tools, { ...change, began: at }].slice(-KEPT);
  const after = { ...before, ...change, input: change.input ?? before.input ?? null };
  return tools.map((tool) => (tool === before ? after : tool));
}
