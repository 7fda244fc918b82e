import { expect, it } from "vitest";

import { microphoneSentence } from "./microphone";

it.each([
  ["NotAllowedError", false, "may not use the microphone"],
  ["NotFoundError", false, "No microphone was found"],
  ["OverconstrainedError", true, "The chosen microphone is not there any more"],
  ["NotReadableError", false, "another program"],
  ["", false, "no reason given"],
])("a browser's %s is one sentence with what to do", (name, chosen, about) => {
  const sentence = microphoneSentence(name, chosen);
  expect(sentence).toContain(about);
  expect(sentence).toMatch(/^[A-Z][^.]*\.$/);
});
