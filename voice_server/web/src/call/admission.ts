/** Asking the server for a LiveKit room with the agent in it. */

import type { Ending, Opening } from "../protocol/session";

/** What opens the room. */
export interface Admission {
  url: string;
  token: string;
  conversation: string;
}

/** The server will not let us in. */
export class RefusedError extends Error {
  override name = "RefusedError";

  constructor(readonly ending: Ending) {
    super(ending.why);
  }
}

/** Get into a room of one's own, and the agent with us. @throws RefusedError */
export async function admit({ key, conversation, mode, pipeline }: Opening): Promise<Admission> {
  const wish = conversation ? { participant_attributes: { "glove.conversation": conversation } } : {};
  const ticket = await post<Ticket>("api/token", wish, key);
  await post(
    `api/rooms/${encodeURIComponent(ticket.room_name)}/calls`,
    { conversation: ticket.conversation, listen_to: ticket.participant_identity, mode, pipeline },
    key,
  );
  return { url: ticket.server_url, token: ticket.participant_token, conversation: ticket.conversation };
}

export type Pipeline = "cascade" | "realtime";

export interface Offer {
  /** Whether calls are held in LiveKit's rooms. */
  rooms: boolean;
  /** How speech can become answers; the usual way first. */
  pipelines: Pipeline[];
}

const NO_OFFER: Offer = { rooms: false, pipelines: [] };

/** Milliseconds: a server that takes longer has more to tell on its socket. */
const ANSWERED_WITHIN = 2_000;

/** What the server this page comes from can do; nothing of it, when it does not say. */
export async function offer(): Promise<Offer> {
  try {
    const answer = await fetch(new URL("ready", document.baseURI), { signal: AbortSignal.timeout(ANSWERED_WITHIN) });
    if (answer.ok) return { ...NO_OFFER, ...((await answer.json()) as Partial<Offer>) };
  } catch {
    // The call itself will tell what is wrong.
  }
  return NO_OFFER;
}

interface Ticket {
  server_url: string;
  participant_token: string;
  participant_identity: string;
  room_name: string;
  conversation: string;
}

async function post<Answer>(path: string, body: object, key: string | null | undefined): Promise<Answer> {
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  if (key) headers.Authorization = `Bearer ${key}`;
  let answer: Response;
  try {
    answer = await fetch(new URL(path, document.baseURI), { method: "POST", headers, body: JSON.stringify(body) });
  } catch {
    throw new RefusedError({ why: "unreachable" });
  }
  if (answer.ok) return (await answer.json()) as Answer;
  if (answer.status === 401) throw new RefusedError({ why: "key" });
  const problem = (await answer.json().catch(() => ({}))) as { code?: string; message?: string };
  if (problem.code === "busy") throw new RefusedError({ why: "busy" });
  throw new RefusedError({ why: "refused", reason: problem.message ?? `it answered ${answer.status}` });
}
