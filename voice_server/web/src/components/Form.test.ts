import { describe, expect, it } from "vitest";

import type { FieldShown, FormShown } from "../protocol/wire";
import { answer, wantsConfirmation } from "./Form";

function field(changes: Partial<FieldShown>): FieldShown {
  return {
    id: "name",
    label: "Name",
    description: "",
    type: "text",
    required: true,
    skippable: false,
    confirms: false,
    status: "filled",
    value: "Ann",
    error: null,
    skip_reason: null,
    ...changes,
  };
}

const YES = field({ id: "yes", confirms: true, status: "empty", value: null });

function form(changes: Partial<FormShown>): FormShown {
  return {
    instance: "f1",
    form: "trip",
    name: "Trip",
    status: "active",
    complete: false,
    asked: "yes",
    fields: [field({}), YES],
    steps: [],
    blocked_on: null,
    waiting: null,
    failures: [],
    ...changes,
  };
}

describe("the card that asks for a yes", () => {
  it("is there when nothing but the yes is missing, skipped and optional answers aside", () => {
    const skipped = field({ id: "number", status: "skipped", value: null });
    const optional = field({ id: "reference", required: false, status: "empty", value: null });
    expect(wantsConfirmation(form({}))).toBe(true);
    expect(wantsConfirmation(form({ fields: [field({}), skipped, YES, optional] }))).toBe(true);
  });

  it.each<[string, Partial<FormShown>]>([
    ["another answer is missing", { fields: [field({ status: "empty" }), YES] }],
    ["another answer does not fit", { fields: [field({ status: "invalid" }), YES] }],
    ["something else is asked", { asked: "name" }],
    ["nothing is asked", { asked: null }],
    ["a checkpoint is waited for", { blocked_on: "book" }],
    ["the form is complete", { complete: true }],
  ])("is not there when %s", (_, changes) => {
    expect(wantsConfirmation(form(changes))).toBe(false);
  });
});

it.each<[Partial<FieldShown>, string]>([
  [{ value: "2026-11-02" }, "Mon, 2 November 2026"],
  [{ value: "2026-99-99" }, "2026-99-99"],
  [{ value: true }, "Yes"],
  [{ value: 0 }, "0"],
  [{ value: ["a", "b"] }, "a, b"],
  [{ value: { a: 1 } }, '{"a":1}'],
  [{ status: "empty", value: null }, "–"],
  [{ status: "skipped", value: null, skip_reason: "has none" }, "none (has none)"],
])("an answer looks as a person writes it: %j", (changes, shown) => {
  expect(answer(field(changes))).toBe(shown);
});
