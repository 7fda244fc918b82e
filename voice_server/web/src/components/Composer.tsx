import { useState, type Ref } from "react";

/** Characters the server takes at once. */
const LONGEST = 2_000;

/** Where one types instead of speaking: what is sent is a turn at once. */
export function Composer(props: {
  disabled: boolean;
  /** What to type, in place of the usual hint. */
  hint: string | null;
  onSay: (text: string) => void;
  ref?: Ref<HTMLInputElement>;
}) {
  const [text, setText] = useState("");
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        if (!text.trim()) return;
        props.onSay(text.trim());
        setText("");
      }}
    >
      <input
        ref={props.ref}
        type="text"
        aria-label="Type instead of speaking"
        placeholder={props.hint ?? "Type instead of speaking"}
        autoComplete="off"
        maxLength={LONGEST}
        disabled={props.disabled}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <button type="submit" disabled={props.disabled || !text.trim()}>
        Say
      </button>
    </form>
  );
}
