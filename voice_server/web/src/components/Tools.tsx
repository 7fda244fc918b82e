import type { ToolActivity } from "../call/view";
import { Fields, words } from "./Fields";

/** Tools that are shown; older ones were done long ago. */
const SHOWN = 5;

const STATUS = { running: "at work", success: "done", error: "failed", aborted: "stopped" } as const;

/** What the agent does besides talking. */
export function Tools({ tools }: { tools: readonly ToolActivity[] }) {
  if (tools.length === 0)
    return <p className="empty">Nothing yet. When the agent looks something up or does something, you see it here.</p>;
  return (
    <ul className="tools">
      {tools
        .slice(-SHOWN)
        .reverse()
        .map((tool) => (
          <li key={tool.call_id} data-status={tool.status}>
            <details>
              <summary>
                <span className="dot" aria-hidden="true" />
                <span className="name">{words(tool.name)}</span>
                <span className="figure">
                  {STATUS[tool.status]}
                  {tool.duration_ms != null && ` · ${duration(tool.duration_ms)}`}
                </span>
              </summary>
              {tool.message && <p>{tool.message}</p>}
              <Fields value={tool.input ?? {}} />
            </details>
          </li>
        ))}
    </ul>
  );
}

function duration(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
