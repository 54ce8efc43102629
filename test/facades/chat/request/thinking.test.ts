import { expect, test } from "@jest/globals";
import { Thinking } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { chatBody, refusalOf, translated } from "../samples.ts";

const enabled = { type: "enabled" };
const disabled = { type: "disabled" };

test.each<[fields: object, expected: Thinking]>([
  [{}, Thinking.UNSPECIFIED],
  [{ reasoning_effort: null, reasoning: null, thinking: null }, Thinking.UNSPECIFIED],
  [{ reasoning_effort: "none" }, Thinking.OFF],
  [{ reasoning_effort: "minimal" }, Thinking.LOW],
  [{ reasoning_effort: "low" }, Thinking.LOW],
  [{ reasoning_effort: "medium" }, Thinking.MEDIUM],
  [{ reasoning_effort: "high" }, Thinking.HIGH],
  [{ reasoning_effort: "xhigh" }, Thinking.HIGH],
  [{ reasoning_effort: "max" }, Thinking.MAX],
  [{ reasoning: {} }, Thinking.UNSPECIFIED],
  [{ reasoning: { exclude: true } }, Thinking.UNSPECIFIED],
  [{ reasoning: { effort: "high" } }, Thinking.HIGH],
  [{ reasoning: { effort: "none", enabled: true } }, Thinking.OFF],
  [{ reasoning: { enabled: true } }, Thinking.ON],
  [{ reasoning: { enabled: false } }, Thinking.OFF],
  [{ reasoning: { max_tokens: 2000 } }, Thinking.ON],
  [{ reasoning: { max_tokens: 0 } }, Thinking.UNSPECIFIED],
  [{ reasoning: { enabled: false, max_tokens: 2000 } }, Thinking.OFF],
  [{ thinking: enabled }, Thinking.ON],
  [{ thinking: { ...enabled, budget_tokens: 5 } }, Thinking.ON],
  [{ thinking: disabled }, Thinking.OFF],
  // The most specific one wins: reasoning_effort > reasoning.effort > reasoning.enabled > thinking.type.
  [{ reasoning_effort: "none", reasoning: { effort: "high", enabled: true }, thinking: enabled }, Thinking.OFF],
  [{ reasoning_effort: "max", reasoning: { effort: "none", enabled: false }, thinking: disabled }, Thinking.MAX],
  [{ reasoning: { effort: "low", enabled: false }, thinking: disabled }, Thinking.LOW],
  [{ reasoning: { enabled: false }, thinking: enabled }, Thinking.OFF],
  [{ reasoning: { enabled: true }, thinking: disabled }, Thinking.ON],
  [{ reasoning: { exclude: true }, thinking: disabled }, Thinking.OFF],
])("%j", (fields, expected) => {
  expect(translated(chatBody(fields)).thinking).toBe(expected);
});

test.each([
  [{ reasoning_effort: "deep" }, "400 reasoning_effort: "],
  [{ reasoning: { effort: "deep" } }, "400 reasoning.effort: "],
  [{ reasoning: "high" }, "400 reasoning: "],
  [{ thinking: { type: "adaptive" } }, "400 thinking.type: "],
  [{ thinking: true }, "400 thinking: "],
])("%j is refused", (fields, start) => {
  expect(refusalOf(chatBody(fields)).startsWith(start)).toBe(true);
});
