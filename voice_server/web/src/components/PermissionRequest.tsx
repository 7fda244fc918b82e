import { Fields, words } from "./Fields";
import type { SlotProps } from "./slots";

/** Asks whether a tool may be used as the agent wants to. */
export function PermissionRequest({ slot, resolve }: SlotProps) {
  const { toolName, toolInput } = slot.input;
  return (
    <>
      <p className="eyebrow">The agent asks for leave</p>
      <h2>{words(String(toolName ?? "a tool"))}?</h2>
      <Fields value={toolInput} />
      {slot.state === "waiting" && (
        <div className="buttons">
          <button type="button" className="primary" onClick={() => resolve(true)}>
            Allow
          </button>
          <button type="button" onClick={() => resolve(false)}>
            Don’t allow
          </button>
        </div>
      )}
    </>
  );
}
