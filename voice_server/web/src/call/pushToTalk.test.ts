import { describe, expect, it } from "vitest";

import { PushToTalk, type TalkAction } from "./pushToTalk";

type Step = [at: number, what: "press" | "release" | "leave" | "tick", actions: TalkAction[]];

const STORIES: Record<string, Step[]> = {
  "held, it talks until it is let go": [
    [0, "press", ["talk"]],
    [2_000, "release", ["done"]],
  ],
  "tapped, it talks until it is pressed again": [
    [0, "press", ["talk"]],
    [120, "release", []],
    [5_000, "tick", []],
    [6_000, "press", ["done"]],
    [6_080, "release", []],
  ],
  "a press of exactly the threshold is held": [
    [0, "press", ["talk"]],
    [300, "release", []],
    [349, "tick", []],
    [350, "tick", ["done"]],
  ],
  "let go before there is anything to hear, it records a little longer": [
    [0, "press", ["talk"]],
    [320, "release", []],
    [350, "tick", ["done"]],
  ],
  "pressed again while that lasts, it goes on": [
    [0, "press", ["talk"]],
    [310, "release", []],
    [330, "press", []],
    [360, "tick", []],
    [1_000, "release", ["done"]],
  ],
  "leaving the button is letting go, however soon": [
    [0, "press", ["talk"]],
    [100, "leave", []],
    [350, "tick", ["done"]],
    [400, "release", []],
  ],
  "leaving the button after a tap changes nothing": [
    [0, "press", ["talk"]],
    [100, "release", []],
    [200, "leave", []],
    [900, "press", ["done"]],
  ],
  "tapped twice at once, it still records its shortest": [
    [0, "press", ["talk"]],
    [50, "release", []],
    [150, "press", []],
    [350, "tick", ["done"]],
  ],
  "what never began cannot end": [
    [0, "release", []],
    [10, "leave", []],
    [20, "tick", []],
  ],
};

describe("push to talk", () => {
  it.each(Object.entries(STORIES))("%s", (_, story) => {
    const button = new PushToTalk();
    for (const [at, what, actions] of story) expect(button[what](at), `${what} at ${at}`).toEqual(actions);
  });
});
