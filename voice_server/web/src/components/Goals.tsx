import type { GoalItemShown, GoalsShown } from "../protocol/wire";

const DISPOSITIONS: Record<GoalItemShown["disposition"], string> = {
  pending: "open",
  done: "done",
  deferred: "later",
  declined: "not wanted",
};

/** What the agent has to achieve, how far it is, and what was put off. */
export function Goals({ goals }: { goals: GoalsShown }) {
  return (
    <>
      <ol className="goals">
        {goals.goals
          .filter(({ status }) => status !== "retired")
          .map((goal) => (
            <li key={goal.key} data-status={goal.status} aria-current={goal.key === goals.active_goal || undefined}>
              <strong title={goal.objective}>{goal.title}</strong>
              <ul>
                {goal.items
                  .filter(({ retired }) => !retired)
                  .map((item) => (
                    <li key={item.key} data-disposition={item.disposition} title={item.note ?? undefined}>
                      <span className="mark" aria-hidden="true" />
                      <span className="name">{item.label}</span>
                      <span className="figure">{DISPOSITIONS[item.disposition]}</span>
                    </li>
                  ))}
              </ul>
            </li>
          ))}
      </ol>
      {goals.deferred.length > 0 && (
        <div className="later-on">
          <strong>Not forgotten</strong>
          <ul>
            {goals.deferred.map((each) => (
              <li key={`${each.goal}/${each.item}`}>
                {each.label}
                {each.note && <small> {each.note}</small>}
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}
