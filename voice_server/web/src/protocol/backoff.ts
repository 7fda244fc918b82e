/** How long to wait before each attempt to come back. */

/** Milliseconds; a server keeps a call for some seconds only, so the first attempts come quickly. */
const FIRST = 250;
const LONGEST = 5_000;

/** Milliseconds after which it is given up: what has been away for a minute does not come back by itself. */
export const GIVE_UP = 60_000;

/** Yield delays in milliseconds, each twice the one before, for as long as their sum is within `within`. */
export function* backoff(within: number = GIVE_UP): Generator<number, void> {
  let waited = 0;
  for (let delay = FIRST; waited + delay <= within; delay = Math.min(2 * delay, LONGEST)) {
    waited += delay;
    yield delay;
  }
}
