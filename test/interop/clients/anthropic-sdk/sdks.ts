import Anthropic from "@anthropic-ai/sdk";
import Anthropic0 from "anthropic-sdk-0";
import { models } from "../../../support/service.ts";

/** The major versions differ in headers (bearer or x-api-key, another anthropic-version), hardly in methods. */
export const sdks: [version: string, Client: typeof Anthropic][] = [
  ["1.x", Anthropic],
  ["0.x", Anthropic0 as unknown as typeof Anthropic],
];

export const ask = (content: string, more: object = {}) => ({
  model: models.plain,
  max_tokens: 500,
  messages: [{ role: "user" as const, content }],
  ...more,
});

export const weather: Anthropic.Messages.Tool = {
  name: "weather",
  description: "Tells the weather of a city",
  input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};
export const clock: Anthropic.Messages.Tool = { name: "clock", input_schema: { type: "object", properties: {} } };
