import * as z from "zod";
import { plainName, rate, routing } from "../values.ts";
import { sampling } from "./sampling.ts";
import { server } from "./server.ts";

const thinking = z.strictObject({
  mode: z
    .enum(["none", "always", "default_off", "default_on"])
    .default("none")
    .describe("Whether the model thinks before it answers."),
  depths: z.boolean().default(false).describe("Whether high and max think deeper than low and medium."),
  switch: z
    .enum(["chat_template_kwargs", "reasoning_effort"])
    .default("chat_template_kwargs")
    .describe("How the engine is told."),
});

const price = z.strictObject({
  input: rate.default("0.20").describe("USD per 1M input tokens."),
  output: rate.optional().describe("USD per 1M output tokens; 0.25 unless set. Not for embedding models."),
  floor: z.number().positive().max(1).default(1).describe("The lowest the price may move, as a multiple."),
  ceiling: z.number().min(1).default(1).describe("The highest the price may move, as a multiple."),
  falls_when_idle: z
    .boolean()
    .default(false)
    .describe(
      "Whether the price also falls while nobody asks the model. Money that comes in then pays that price for as long as it lasts.",
    ),
});

/** What people and listings are told of a model. */
const card = z.strictObject({
  description: plainName.max(2000).default("").describe("What it is good at."),
  quantization: z
    .enum(["int4", "int8", "fp4", "mxfp4", "nvfp4", "fp6", "fp8", "mxfp8", "fp16", "bf16", "fp32"])
    .optional()
    .describe("How its weights are stored. Default: it is not told."),
  licence: plainName.max(100).default("").describe("The licence of its weights, such as Apache-2.0."),
  link: z
    .string()
    .max(2000)
    .refine((text) => URL.parse(text)?.protocol === "https:", "must be an https address")
    .optional()
    .describe("Where its makers tell of it. Default: no link."),
  hugging_face_id: z
    .string()
    .regex(/^[\w.-]{1,96}\/[\w.-]{1,96}$/, "must be an id such as deepseek-ai/DeepSeek-V4")
    .optional()
    .describe("Its id at Hugging Face. Default: it is not told."),
  tokenizer: plainName.max(100).default("").describe("The family of its tokenizer, such as DeepSeek."),
  deprecation_date: z
    .string()
    .regex(/^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/, "must be a day such as 2026-12-31")
    .optional()
    .describe("The day from which it may no longer be served. Default: none."),
  countries: z
    .array(z.string().regex(/^[A-Z]{2}$/, "must be two capital letters (ISO 3166), such as DE"))
    .max(50)
    .default([])
    .describe("The countries that its servers stand in."),
  is_ready: z.boolean().default(true).describe("Whether listings such as OpenRouter's may show it."),
  openrouter_slug: z
    .string()
    .regex(/^[\w.:-]{1,96}\/[\w.:-]{1,96}$/, "must be an id such as deepseek/deepseek-v4")
    .optional()
    .describe("Its id at OpenRouter. Default: it is not told."),
});

/** A served model. */
export const model = z
  .strictObject({
    id: plainName.min(1).max(200).describe("What callers put into their requests."),
    display_name: plainName.optional().describe("For people. Default: the id."),
    kind: z
      .enum(["generation", "embedding"])
      .default("generation")
      .describe("Whether it writes text or makes vectors."),
    context_length: z
      .int()
      .positive()
      .default(8192)
      .describe("Most tokens of prompt and answer together; of one input for an embedding model."),
    max_output: z.int().positive().optional().describe("Most tokens of an answer. Default: the context."),
    system_anywhere: z
      .boolean()
      .default(false)
      .describe("Whether the chat template takes a system message after the first turn."),
    template_tokens: z
      .int()
      .min(0)
      .max(1_000_000)
      .optional()
      .describe(
        "The most tokens that the chat template adds by itself, such as a preamble. A server that counts more than these and the prompt's bytes is not believed. Default: 4096, 256 for an embedding model.",
      ),
    sampling: sampling.prefault({}).describe("Defaults for what a request leaves out."),
    thinking: thinking.prefault({}),
    price: price.prefault({}),
    card: card.prefault({}).describe("What people and listings are told of it."),
    dimensions: z.int().positive().default(1024).describe("Dimensions of an embedding model's vectors."),
    routing: routing.optional().describe("How a server is chosen. Default: as fleet.routing says."),
    servers: z.array(server).min(1).describe("Where it runs."),
  })
  .superRefine((value, context) => {
    const refuse = (path: string[], message: string) => context.addIssue({ code: "custom", path, message });
    const servers = value.servers.map((one) => `${one.url} ${one.model ?? ""}`);
    servers.forEach((one, index) => {
      if (servers.indexOf(one) < index) {
        context.addIssue({ code: "custom", path: ["servers", index, "url"], message: "is listed twice" });
      }
    });
    if ((value.max_output ?? 0) > value.context_length) {
      refuse(["max_output"], `must not exceed context_length, which is ${value.context_length}`);
    }
    if (value.kind !== "embedding") {
      return;
    }
    if (value.price.output !== undefined) {
      refuse(["price", "output"], "an embedding model has no output price");
    }
    if (value.thinking.mode !== "none") {
      refuse(["thinking", "mode"], "an embedding model does not think");
    }
    if (value.max_output !== undefined) {
      refuse(["max_output"], "an embedding model has no output");
    }
  });
