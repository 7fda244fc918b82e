import { Fields, words } from "./Fields";
import type { SlotProps } from "./slots";

interface Option {
  label: string;
  value: unknown;
}

/**
 * Draws any slot: `title` and `message` as such, `options` as buttons, all else as a list of names and values.
 *
 * An option is a string, or has a `label` and a `value`. Without options a slot that waits can be confirmed.
 */
export function Card({ slot, resolve, reject }: SlotProps) {
  const { title, message, options, ...rest } = slot.input;
  const choices = read(options);
  return (
    <>
      <h2>{text(title) ?? words(slot.renderer)}</h2>
      {text(message) !== null && <p>{text(message)}</p>}
      <Fields value={rest} />
      {slot.state === "waiting" ? (
        <div className="buttons">
          {choices.map(({ label, value }, index) => (
            <button
              key={index}
              type="button"
              className={choices.length === 1 ? "primary" : ""}
              onClick={() => resolve(value)}
            >
              {label}
            </button>
          ))}
          <button type="button" className="quiet" onClick={() => reject()}>
            Dismiss
          </button>
        </div>
      ) : (
        <button type="button" className="corner" aria-label="Close" onClick={() => resolve(null)}>
          ×
        </button>
      )}
    </>
  );
}

function read(options: unknown): Option[] {
  if (!Array.isArray(options) || options.length === 0) return [{ label: "OK", value: true }];
  return options.map((option: unknown) => {
    if (typeof option !== "object" || option === null) return { label: String(option), value: option };
    const { label, value } = option as Partial<Option>;
    return { label: String(label ?? value), value: value ?? label };
  });
}

function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
