import { useMemo, useSyncExternalStore } from "react";

import { VoiceClient, type CallSnapshot } from "../call/client";
import type { LevelHeard } from "../protocol/wire";

/** The socket of the server this page comes from. */
export function socketUrl(): string {
  const url = new URL("api/voice", document.baseURI);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.search = url.hash = "";
  return url.href;
}

/** A call: what is known of it, drawn anew after every change, and the client that acts. */
export function useCall(url: string = socketUrl()): { client: VoiceClient; call: CallSnapshot } {
  const client = useMemo(() => new VoiceClient(url), [url]);
  return { client, call: useSyncExternalStore(client.subscribe, client.snapshot) };
}

/** The caller's line, ten times a second; whoever uses this is drawn as often. */
export function useLevel(client: VoiceClient): LevelHeard {
  return useSyncExternalStore(client.subscribeLevel, client.level);
}
