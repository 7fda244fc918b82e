import { useEffect, useRef, useState, type KeyboardEvent, type PointerEvent } from "react";

import { PushToTalk, type Talk, type TalkAction } from "../call/pushToTalk";

/** Where a key types or chooses something, and is no hotkey. */
const TYPING = "input, textarea, select, [contenteditable]";

export interface PushToTalkOptions {
  enabled: boolean;
  /** The caller begins to talk. */
  onTalk: () => void;
  /** The caller is done. */
  onDone: () => void;
  /** The hotkey, as `KeyboardEvent.code` calls it. */
  hotkey?: string;
}

/** A button, and a key, to talk: held, or tapped. Spread `button` on the button. */
export function usePushToTalk({ enabled, onTalk, onDone, hotkey = "Space" }: PushToTalkOptions) {
  const machine = useRef(new PushToTalk()).current;
  const [state, setState] = useState<Talk>("off");
  const act = useRef<(what: "press" | "release" | "leave") => void>(() => {});

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const carryOut = (actions: TalkAction[]) => {
      for (const action of actions) (action === "talk" ? onTalk : onDone)();
      setState(machine.state);
      clearTimeout(timer);
      if (machine.deadline === null) return;
      timer = setTimeout(() => carryOut(machine.tick(performance.now())), machine.deadline - performance.now());
    };
    act.current = (what) => enabled && carryOut(machine[what](performance.now()));
    carryOut([]);
    return () => clearTimeout(timer);
  }, [enabled, onTalk, onDone, machine]);

  useEffect(() => {
    if (!enabled) return;
    const elsewhere = (event: globalThis.KeyboardEvent) =>
      event.code !== hotkey || (event.target instanceof Element && event.target.closest(TYPING) !== null);
    const down = (event: globalThis.KeyboardEvent) => {
      if (elsewhere(event) || event.ctrlKey || event.altKey || event.metaKey) return;
      // The key of a button in focus would press that one too, and Space would scroll.
      event.preventDefault();
      if (!event.repeat) act.current("press");
    };
    const up = (event: globalThis.KeyboardEvent) => {
      if (elsewhere(event)) return;
      event.preventDefault();
      act.current("release");
    };
    const leave = () => act.current("leave");
    window.addEventListener("keydown", down);
    window.addEventListener("keyup", up);
    window.addEventListener("blur", leave);
    return () => {
      window.removeEventListener("keydown", down);
      window.removeEventListener("keyup", up);
      window.removeEventListener("blur", leave);
      machine.reset();
      setState("off");
    };
  }, [enabled, hotkey, machine]);

  const button = {
    onPointerDown: (event: PointerEvent) => event.button === 0 && act.current("press"),
    onPointerUp: () => act.current("release"),
    onPointerLeave: () => act.current("leave"),
    onPointerCancel: () => act.current("leave"),
    // Enter works like the hotkey on the button itself.
    onKeyDown: (event: KeyboardEvent) => event.key === "Enter" && !event.repeat && act.current("press"),
    onKeyUp: (event: KeyboardEvent) => event.key === "Enter" && act.current("release"),
    onContextMenu: (event: { preventDefault: () => void }) => event.preventDefault(),
  };
  return { state, talking: state !== "off", button };
}
