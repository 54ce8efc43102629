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
  // The engines' own words come last.
  [{ enable_thinking: true }, Thinking.ON],
  [{ enable_thinking: false }, Thinking.OFF],
  [{ enable_thinking: null, chat_template_kwargs: null }, Thinking.UNSPECIFIED],
  [{ chat_template_kwargs: { enable_thinking: false, add_vision_id: true } }, Thinking.OFF],
  [{ chat_template_kwargs: { thinking: true } }, Thinking.ON],
  [{ chat_template_kwargs: { reasoning_effort: "high", enable_thinking: false } }, Thinking.HIGH],
  [{ chat_template_kwargs: {}, enable_thinking: false }, Thinking.OFF],
  [{ chat_template_kwargs: { enable_thinking: true, thinking: false }, enable_thinking: false }, Thinking.ON],
  [{ thinking: disabled, chat_template_kwargs: { enable_thinking: true } }, Thinking.OFF],
  [{ reasoning_effort: "low", enable_thinking: false }, Thinking.LOW],
])("%j", (fields, expected) => {
  expect(translated(chatBody(fields)).thinking).toBe(expected);
});

test.each([
  [{ reasoning_effort: "deep" }, "400 reasoning_effort: "],
  [{ reasoning: { effort: "deep" } }, "400 reasoning.effort: "],
  [{ reasoning: "high" }, "400 reasoning: "],
  [{ thinking: { type: "adaptive" } }, "400 thinking.type: "],
  [{ thinking: true }, "400 thinking: "],
  [{ enable_thinking: "no" }, "400 enable_thinking: "],
  [{ chat_template_kwargs: { enable_thinking: 0 } }, "400 chat_template_kwargs.enable_thinking: "],
])("%j is refused", (fields, start) => {
  expect(refusalOf(chatBody(fields)).startsWith(start)).toBe(true);
});
