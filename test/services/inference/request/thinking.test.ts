import { expect, test } from "@jest/globals";
import { Thinking } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import type { ThinkingRecipe } from "#src/fleet/engines/interface.ts";
import { planThinking } from "#src/services/inference/request/thinking.ts";

const { UNSPECIFIED, OFF, ON, LOW, MEDIUM, HIGH, MAX } = Thinking;
const on = { enabled: true, deepest: false };
const off = { enabled: false, deepest: false };
const deep = { enabled: true, deepest: true };

test.each<[ThinkingRecipe["mode"], boolean, Thinking, ReturnType<typeof planThinking>]>([
  ["none", false, UNSPECIFIED, undefined],
  ["none", false, HIGH, undefined],
  ["always", false, UNSPECIFIED, undefined],
  ["always", false, OFF, undefined],
  ["always", false, MAX, undefined],
  ["always", true, UNSPECIFIED, on],
  ["always", true, OFF, on],
  ["always", true, HIGH, deep],
  ["default_off", true, UNSPECIFIED, off],
  ["default_off", true, OFF, off],
  ["default_off", true, ON, on],
  ["default_off", true, LOW, on],
  ["default_off", true, MEDIUM, on],
  ["default_off", true, HIGH, deep],
  ["default_off", true, MAX, deep],
  ["default_off", false, MAX, on],
  ["default_on", false, UNSPECIFIED, on],
  ["default_on", false, OFF, off],
  ["default_on", false, LOW, on],
  ["default_on", false, MAX, on],
])("%s, depths %s, asked %s", (mode, depths, asked, expected) => {
  expect(planThinking(asked, { mode, depths, switch: "chat_template_kwargs" })).toEqual(expected);
});
