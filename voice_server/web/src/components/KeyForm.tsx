import { useState } from "react";

/** Asks for the server's key. It is kept for as long as this tab is open. */
export function KeyForm({ wrong, onKey }: { wrong: boolean; onKey: (key: string) => void }) {
  const [key, setKey] = useState("");
  return (
    <form
      className="panel key"
      onSubmit={(event) => {
        event.preventDefault();
        if (key) onKey(key);
      }}
    >
      <label className="field">
        <span>{wrong ? "That key is not the server’s: try again" : "This server wants a key"}</span>
        <input
          type="password"
          autoFocus
          autoComplete="current-password"
          value={key}
          maxLength={512}
          onChange={({ target }) => setKey(target.value)}
        />
      </label>
      <button type="submit" className="primary" disabled={!key}>
        Start with this key
      </button>
    </form>
  );
}
