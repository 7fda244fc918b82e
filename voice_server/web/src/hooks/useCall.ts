import { useEffect, useMemo, useSyncExternalStore } from "react";

import { offer } from "../call/admission";
import type { CarrierListener } from "../call/carrier";
import { VoiceClient, type CallSnapshot } from "../call/client";
import { RoomCarrier } from "../call/roomCarrier";
import { SocketCarrier } from "../call/socketCarrier";
import type { LevelHeard } from "../protocol/wire";

/** The socket of the server this page comes from. */
export function socketUrl(): string {
  const url = new URL("api/voice", document.baseURI);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.search = url.hash = "";
  return url.href;
}

/**
 * A call: what is known of it, drawn anew after every change, and the client that acts.
 *
 * It is held in a LiveKit room where the server has one to give, else on its socket.
 */
export function useCall(url: string = socketUrl()): { client: VoiceClient; call: CallSnapshot } {
  const client = useMemo(() => {
    const carry = async (listener: CarrierListener) =>
      (await offer()).rooms ? new RoomCarrier(listener) : new SocketCarrier(url, listener);
    return new VoiceClient(carry);
  }, [url]);
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
