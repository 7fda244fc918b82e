import { useEffect, useMemo, useSyncExternalStore } from "react";

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
  useEffect(() => {
    // Who leaves the page hangs up; else the server would wait for them to come back.
    const leave = () => client.stop();
    window.addEventListener("pagehide", leave);
    return () => window.removeEventListener("pagehide", leave);
  }, [client]);
  return { client, call: useSyncExternalStore(client.subscribe, client.snapshot) };
}

/** The caller's line, ten times a second; whoever uses this is drawn as often. */
export function useLevel(client: VoiceClient): LevelHeard {
  return useSyncExternalStore(client.subscribeLevel, client.level);
}
