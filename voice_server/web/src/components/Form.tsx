import type { FieldShown, FormShown } from "../protocol/wire";

/** The form that is being filled in: every answer there is, and what is asked now. */
export function Form({ form }: { form: FormShown }) {
  return (
    <>
      {form.waiting && (
        <p className="waiting" role="status">
          {form.waiting}
        </p>
      )}
      <dl className="form">
        {form.fields.filter(matters(form)).map((field) => (
          <div key={field.id} data-status={field.status} data-asked={field.id === form.asked}>
            <dt>{field.label}</dt>
            <dd>
              {(field.id !== form.asked || field.status !== "empty") && answer(field)}
              {field.id === form.asked && <em>asked now</em>}
              {field.error && <small className="wrong">{field.error}</small>}
            </dd>
          </div>
        ))}
      </dl>
      {form.failures.map(({ hook, message }) => (
        <p key={hook} className="wrong">
          {message}
        </p>
      ))}
    </>
  );
}

/** All answers to be looked at, when the only thing that is missing is a yes to them. Both buttons only talk. */
export function Confirmation(props: { form: FormShown; onConfirm: () => void; onChange: () => void }) {
  const answered = props.form.fields.filter(
    (field) => !field.confirms && (field.status === "filled" || field.status === "skipped"),
  );
  return (
    <>
      <p className="eyebrow">{props.form.name}</p>
      <h2>Is all of this right?</h2>
      <dl className="form">
        {answered.map((field) => (
          <div key={field.id} data-status={field.status}>
            <dt>{field.label}</dt>
            <dd>{answer(field)}</dd>
          </div>
        ))}
      </dl>
      <div className="buttons">
        <button type="button" className="primary" onClick={props.onConfirm}>
          Confirm
        </button>
        <button type="button" onClick={props.onChange}>
          Change something
        </button>
      </div>
    </>
  );
}

/** Whether nothing but a yes to the other answers is missing. */
export function wantsConfirmation({ asked, blocked_on, complete, fields }: FormShown): boolean {
  const question = fields.find(({ id }) => id === asked);
  if (!question?.confirms || complete || blocked_on !== null) return false;
  return fields.every((field) => field === question || !field.required || isSettled(field));
}

/** What an answer looks like to a person. */
export function answer({ status, value, skip_reason }: FieldShown): string {
  if (status === "skipped") return skip_reason ? `none (${skip_reason})` : "none";
  if (value === null || value === undefined) return "–";
  if (typeof value === "boolean") return value ? "Yes" : "No";
  if (typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value)) return day(value);
  if (Array.isArray(value)) return value.map(String).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function day(date: string): string {
  const at = new Date(`${date}T00:00:00Z`);
  if (Number.isNaN(at.getTime())) return date;
  return at.toLocaleDateString("en-GB", {
    weekday: "short",
    day: "numeric",
    month: "long",
    year: "numeric",
    timeZone: "UTC",
  });
}

function isSettled({ status }: FieldShown): boolean {
  return status === "filled" || status === "skipped";
}

/** A question that is optional and was not answered is not worth a line. */
function matters(form: FormShown) {
  return (field: FieldShown) => field.required || field.status !== "empty" || field.id === form.asked;
}
