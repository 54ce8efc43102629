import { expect, test } from "@jest/globals";
import { seeded } from "../../../simulator/engine/text/random.ts";
import { makeSample } from "../../../simulator/engine/tool-choice.ts";

test.each([
  [{ const: 5 }, 5],
  [{ enum: ["only"] }, "only"],
  [{ type: "null" }, null],
  [{ type: ["string", "null"] }, expect.any(String)],
  [{ type: "integer" }, expect.any(Number)],
  [{ type: "number" }, expect.any(Number)],
  [{ type: "boolean" }, expect.any(Boolean)],
  [{ type: "array", items: { const: 1 } }, [1]],
  [{ anyOf: [{ const: "first" }, { const: "second" }] }, "first"],
  [{ type: "object" }, {}],
  [
    { type: "object", properties: { a: { const: 1 }, b: { const: 2 } } },
    { a: 1, b: 2 },
  ],
  [{ properties: { a: { const: 1 }, b: { const: 2 } }, required: ["b"] }, { b: 2 }],
  [undefined, expect.any(String)],
])("a sample of %j fits it", (schema, expected) => {
  expect(makeSample(schema, seeded(1))).toEqual(expected);
});
