import { useState } from "react";

import type { Line } from "../call/transcript";
import { axis, stages, STAGES, total, type StageName } from "../call/timing";
import type { TurnTimed } from "../protocol/wire";

const SHOWN = 12;
const NAMES = Object.keys(STAGES) as StageName[];

/** Why each turn took as long as it did: its stages on one axis for all turns, and the figures as a table. */
export function TurnTimes({ turns, words }: { turns: readonly TurnTimed[]; words: (turn: number) => string }) {
  const shown = turns.slice(-SHOWN);
  const { end, lines } = axis(shown);
  const [chosen, choose] = useState<number | null>(null);
  if (shown.length === 0) return <p className="empty">After your first turn you see here where its time went.</p>;
  return (
    <div className="times">
      <ul className="legend" aria-hidden="true">
        {NAMES.map((name) => (
          <li key={name} title={STAGES[name].meaning}>
            <span className={`swatch ${name}`} />
            {STAGES[name].label}
          </li>
        ))}
        <li className="unit">milliseconds since you stopped speaking</li>
      </ul>
      <div className="chart">
        <div className="grid" aria-hidden="true">
          {lines.map((at) => (
            <span key={at} style={{ left: `${(100 * at) / end}%` }}>
              {at}
            </span>
          ))}
        </div>
        <ol>
          {shown.map((turn) => (
            <li key={turn.turn}>
              <button
                type="button"
                className="row"
                aria-expanded={chosen === turn.turn}
                onClick={() => choose(chosen === turn.turn ? null : turn.turn)}
              >
                <span className="label">
                  <span>{words(turn.turn)}</span>
                  <span className="figure">{turn.first_sound === null ? "no sound" : `${total(turn)} ms`}</span>
                </span>
                <span className="hidden">{spoken(turn)}</span>
                <span className="track" aria-hidden="true">
                  {stages(turn).map(({ name, from, to }) => (
                    <span
                      key={name}
                      className={`stage ${name}`}
                      style={{ left: `${(100 * from) / end}%`, width: `${(100 * (to - from)) / end}%` }}
                    />
                  ))}
                </span>
              </button>
              <Figures turn={turn} open={chosen === turn.turn} />
            </li>
          ))}
        </ol>
      </div>
      <details className="as-table">
        <summary>The same as a table</summary>
        <TimesTable turns={shown} words={words} />
      </details>
    </div>
  );
}

/** The numbers of one turn: beside its bar on hover and focus, and until the next click after one. */
function Figures({ turn, open }: { turn: TurnTimed; open: boolean }) {
  return (
    <p className="figures" data-open={open}>
      {stages(turn).map(({ name, from, to }) => (
        <span key={name}>
          <span className={`swatch ${name}`} aria-hidden="true" />
          {STAGES[name].label} {to - from} ms
          {name === "wait" && turn.reason && ` (${turn.reason.replaceAll("_", " ")})`}
        </span>
      ))}
    </p>
  );
}

function TimesTable({ turns, words }: { turns: readonly TurnTimed[]; words: (turn: number) => string }) {
  const after = (turn: TurnTimed, at: number | null) => (at === null ? "–" : at - turn.speech_ended);
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Turn times as a table">
      <table>
        <caption>Milliseconds after you stopped speaking</caption>
        <thead>
          <tr>
            <th scope="col">Turn</th>
            <th scope="col">Text final</th>
            <th scope="col">A turn</th>
            <th scope="col">First text</th>
            <th scope="col">First sound</th>
            <th scope="col">Wait decided by</th>
          </tr>
        </thead>
        <tbody>
          {turns.map((turn) => (
            <tr key={turn.turn}>
              <th scope="row">{words(turn.turn)}</th>
              <td>{after(turn, turn.text_final)}</td>
              <td>{after(turn, turn.committed)}</td>
              <td>{after(turn, turn.first_text)}</td>
              <td>{after(turn, turn.first_sound)}</td>
              <td>{turn.reason.replaceAll("_", " ")}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function spoken(turn: TurnTimed): string {
  return stages(turn)
    .map(({ name, from, to }) => `${STAGES[name].label} ${to - from} milliseconds`)
    .join(", ");
}

/** Finds the words of a turn of this call. */
export function wordsOfTurns(lines: readonly Line[], call: string): (turn: number) => string {
  const said = new Map(lines.map((line) => [line.id, line.text]));
  return (turn) => said.get(`${call}/turn/${turn}`) ?? `Turn ${turn + 1}`;
}
