import { useEffect, useRef } from "react";

import type { Line, Words } from "../call/transcript";

/** What a sound was taken for, by the server's name for it. */
const SOUNDS: Record<string, string> = {
  noise: "a noise",
  backchannel: "you agree, and the agent goes on",
  aside: "words that were not for the agent",
  echo: "the agent’s own voice",
  unrecognised: "speech that could not be understood",
};

const STATES = { speaking: "speaking", heard: "", interrupted: "interrupted" } as const;

/** What was said. Of the agent's words only those that were heard; the caller's are grey until they are a turn. */
export function Transcript({ lines, words }: { lines: readonly Line[]; words: readonly Words[] }) {
  const list = useRef<HTMLOListElement>(null);
  const following = useRef(true);

  useEffect(() => {
    if (following.current && list.current) list.current.scrollTop = list.current.scrollHeight;
  }, [lines, words]);

  const onScroll = () => {
    const { scrollTop, clientHeight, scrollHeight } = list.current!;
    following.current = scrollHeight - scrollTop - clientHeight < 40;
  };
  if (lines.length === 0 && words.length === 0) {
    return <p className="empty">What is said appears here: of the agent’s words, those that you have heard.</p>;
  }
  // No live region: both voices are heard already, and a screen reader would talk over them.
  return (
    <ol className="transcript" ref={list} onScroll={onScroll} tabIndex={0} aria-label="Transcript">
      {lines.map((line) => (
        <TranscriptLine key={line.id} line={line} />
      ))}
      {words.length > 0 && (
        <li className="line caller partial">
          <span className="who">You, so far</span>
          <p>{words.map(({ text }) => text).join(" ")}</p>
        </li>
      )}
    </ol>
  );
}

function TranscriptLine({ line }: { line: Line }) {
  switch (line.by) {
    case "caller":
      return (
        <li className="line caller">
          <span className="who">You</span>
          <p>{line.text}</p>
        </li>
      );
    case "agent":
      return (
        <li className="line agent" data-state={line.state} data-kind={line.kind}>
          <span className="who">
            Agent
            {line.kind !== "reply" && <em>{line.kind.replace("_", " ")}</em>}
            {STATES[line.state] && <em>{STATES[line.state]}</em>}
          </span>
          <p>{line.text || "…"}</p>
        </li>
      );
    case "sound":
      return (
        <li className="line aside">
          <p>
            {line.text && `“${line.text}”: `}
            {SOUNDS[line.kind] ?? line.kind.replaceAll("_", " ")}
          </p>
        </li>
      );
    case "page":
      return (
        <li className="line aside">
          <p>{line.text}</p>
        </li>
      );
  }
}
