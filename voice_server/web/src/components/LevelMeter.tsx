import type { VoiceClient } from "../call/client";
import { useLevel } from "../hooks/useCall";

/** Decibels below full scale that the meter shows. */
const RANGE = 60;

/** How loud the caller's line is, and how much like speech; also while muted. */
export function LevelMeter({ client, muted }: { client: VoiceClient; muted: boolean }) {
  const { level, probability } = useLevel(client);
  const loud = level > 0 ? Math.max(0, Math.min(1, 1 + (20 * Math.log10(level)) / RANGE)) : 0;
  return (
    <div className="meters" data-muted={muted}>
      <Meter name="Level" share={loud} shown={level > 0 ? `−${Math.round(-20 * Math.log10(level))} dB` : "–"} />
      <Meter
        name="Speech"
        share={probability}
        shown={`${Math.round(100 * probability)} %`}
        speech={probability >= 0.5}
      />
    </div>
  );
}

function Meter({
  name,
  share,
  shown,
  speech = false,
}: {
  name: string;
  share: number;
  shown: string;
  speech?: boolean;
}) {
  return (
    <div
      className="meter"
      role="meter"
      aria-label={name}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(100 * share)}
      aria-valuetext={shown}
    >
      <span>{name}</span>
      <span className="bar" data-speech={speech}>
        <span style={{ transform: `scaleX(${share})` }} />
      </span>
      <span className="figure">{shown}</span>
    </div>
  );
}
