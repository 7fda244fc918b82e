/** Names and values, whatever they are: what a tool is given, what a card holds. */
export function Fields({ value }: { value: unknown }) {
  if (typeof value !== "object" || value === null) return value == null ? null : <p>{String(value)}</p>;
  const entries = Object.entries(value);
  if (entries.length === 0) return null;
  return (
    <dl className="fields">
      {entries.map(([name, each]) => (
        <div key={name}>
          <dt>{words(name)}</dt>
          <dd>{typeof each === "object" && each !== null ? JSON.stringify(each) : String(each)}</dd>
        </div>
      ))}
    </dl>
  );
}

/** `book_table` and `bookTable` as a person would write them. */
export function words(name: string): string {
  const spaced = name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/[_\s]+/g, " ")
    .trim()
    .toLowerCase();
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}
