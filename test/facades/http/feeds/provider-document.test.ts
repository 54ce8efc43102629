import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { Ajv2020 } from "ajv/dist/2020.js";
import * as z from "zod";
import { ModelKind, ThinkingMode } from "#gen/tollgate/catalogue/v1/model_pb.js";
import { configSchema } from "#src/config/schema.ts";
import { startFront } from "../front-server.ts";
import { scriptedCore } from "../scripted-core.ts";

const card = {
  description: "Writes.",
  quantization: "fp8",
  licence: "MIT",
  huggingFaceId: "deepseek-ai/DeepSeek-V4",
  tokenizer: "DeepSeek",
  deprecationDate: "2026-12-31",
  countries: ["DE", "FI"],
  openrouterSlug: "deepseek/deepseek-v4",
  isReady: true,
};
const models = [
  {
    id: "deepseek/v4",
    displayName: "DeepSeek V4",
    kind: ModelKind.GENERATION,
    card,
    contextLength: 131_072,
    maxOutputTokens: 32_768,
    thinking: ThinkingMode.DEFAULT_OFF,
    inputPicoUsdPerToken: 200_000n,
    outputPicoUsdPerToken: 250_000n,
    createdAt: { seconds: 1_690_502_400n, nanos: 0 },
  },
  { id: "bare", kind: ModelKind.GENERATION, contextLength: 8192, maxOutputTokens: 8192, thinking: ThinkingMode.NONE },
  { id: "vectors", kind: ModelKind.EMBEDDING, contextLength: 8192, dimensions: 1024 },
];

const quantizations = ["int4", "int8", "fp4", "mxfp4", "nvfp4", "fp6", "fp8", "mxfp8", "fp16", "bf16", "fp32"] as const;
const quantization = z.enum(quantizations).nullable();
const sampling = z.enum([
  ...(["temperature", "top_p", "top_k", "min_p", "top_a", "frequency_penalty", "presence_penalty"] as const),
  ...(["repetition_penalty", "stop", "seed", "max_tokens", "logit_bias"] as const),
]);
const usd = z.string().regex(/^\d+(\.\d+)?$/);
const optional = {
  description: z.string().optional(),
  deprecation_date: z.iso.date().optional(),
  datacenters: z.array(z.strictObject({ country_code: z.string().regex(/^[A-Z]{2}$/) })).optional(),
  openrouter: z.strictObject({ slug: z.string() }).optional(),
  is_ready: z.boolean(),
};
const features = z.array(z.enum(["tools", "json_mode", "structured_outputs", "logprobs", "web_search", "reasoning"]));

// As OpenRouter describes its flat document: https://openrouter.ai/docs/guides/providers/integration-legacy
const flat = z.object({
  ...optional,
  id: z.string().min(1),
  hugging_face_id: z.string(),
  name: z.string().min(1),
  created: z.int(),
  input_modalities: z.array(z.enum(["text", "image", "file", "audio", "video"])).min(1),
  output_modalities: z.array(z.enum(["text", "image", "embeddings"])).min(1),
  quantization,
  context_length: z.int().positive(),
  max_output_length: z.int().positive().nullable(),
  pricing: z.strictObject({ prompt: usd, completion: usd, image: usd, request: usd, input_cache_read: usd }),
  supported_sampling_parameters: z.array(sampling),
  supported_features: features,
});

// As it describes the current one: https://openrouter.ai/docs/guides/providers/integration
const quantity = z.strictObject({ value: z.int().positive(), unit: z.literal("token") });
const prices = (type: string) =>
  z.array(z.strictObject({ type: z.literal(type), unit: z.literal("token"), cost_usd: usd })).length(1);
const parameter = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("range"), min: z.number(), max: z.number() }),
  z.strictObject({
    type: z.literal("integer"),
    min: z.int().optional(),
    max: z.int().optional(),
    unit: z.literal("token").optional(),
  }),
  z.strictObject({ type: z.literal("array") }),
  z.strictObject({ type: z.literal("boolean") }),
  z.strictObject({ type: z.literal("enum"), values: z.array(z.string()).min(1) }),
]);
const current = z.strictObject({
  ...optional,
  schema_version: z.literal("2.4"),
  id: z.string().min(1),
  name: z.string().min(1),
  hugging_face_id: z.string().min(1).optional(),
  created: z.int(),
  quantization,
  tokenizer: z.string().optional(),
  input_modalities: z
    .array(
      z.strictObject({
        type: z.literal("text"),
        supported_inputs: z.strictObject({ max_context_length: quantity }),
        pricing: prices("prompt"),
      }),
    )
    .min(1),
  output_modalities: z
    .array(
      z.discriminatedUnion("type", [
        z.strictObject({
          type: z.literal("text"),
          streaming: z.boolean(),
          max_length: quantity,
          supported_parameters: z.record(z.string(), parameter),
          pricing: prices("completion"),
        }),
        z.strictObject({ type: z.literal("embeddings"), supported_parameters: z.record(z.string(), parameter) }),
      ]),
    )
    .min(1),
});

async function ask(path: string) {
  await using front = await startFront(scriptedCore({ models }).transport);
  const answer = await fetch(front.url + path);
  const json = (await answer.json()) as { readonly data: readonly Readonly<Record<string, string[]>>[] };
  return { status: answer.status, json };
}

test.each(["/api/v1/models", "/v1/models"])(
  "%s is OpenRouter's flat document, beside what clients know",
  async (path) => {
    const { json } = await ask(path);
    const data = z.array(flat).parse(json.data);
    expect(data[0]).toEqual({
      id: "deepseek/v4",
      hugging_face_id: "deepseek-ai/DeepSeek-V4",
      name: "DeepSeek V4",
      created: 1_690_502_400,
      input_modalities: ["text"],
      output_modalities: ["text"],
      quantization: "fp8",
      context_length: 131_072,
      max_output_length: 32_768,
      pricing: {
        prompt: "0.0000002",
        completion: "0.00000025",
        image: "0",
        request: "0",
        input_cache_read: "0.0000002",
      },
      supported_sampling_parameters: expect.arrayContaining(["temperature", "top_p", "max_tokens", "stop"]),
      supported_features: ["tools", "reasoning"],
      description: "Writes.",
      deprecation_date: "2026-12-31",
      is_ready: true,
      openrouter: { slug: "deepseek/deepseek-v4" },
      datacenters: [{ country_code: "DE" }, { country_code: "FI" }],
    });
    for (const { supported_sampling_parameters: named = [], supported_parameters: all = [] } of json.data) {
      expect(named.filter((one) => !all.includes(one))).toEqual([]);
    }
  },
);

test("with schema_version=2.4 it is the current document, in which each kind owns its limits and prices", async () => {
  const { json } = await ask("/api/v1/models?schema_version=2.4");
  const data = z.array(current).parse(json.data);
  expect(Object.keys(json)).toEqual(["data"]);
  expect(data.map(({ id }) => id)).toEqual(["deepseek/v4", "bare", "vectors"]);
  expect(data[0]).toMatchObject({
    input_modalities: [
      {
        supported_inputs: { max_context_length: { value: 131_072 } },
        pricing: [{ type: "prompt", cost_usd: "0.0000002" }],
      },
    ],
    output_modalities: [
      {
        max_length: { value: 32_768 },
        supported_parameters: {
          max_tokens: { type: "integer", min: 1, max: 32_768 },
          temperature: { type: "range", min: 0, max: 2 },
          tools: { type: "boolean" },
          reasoning: { type: "boolean" },
        },
        pricing: [{ type: "completion", cost_usd: "0.00000025" }],
      },
    ],
    quantization: "fp8",
    tokenizer: "DeepSeek",
    openrouter: { slug: "deepseek/deepseek-v4" },
    datacenters: [{ country_code: "DE" }, { country_code: "FI" }],
  });
  expect(data[1]).toMatchObject({ quantization: null });
  expect(data[1]).not.toHaveProperty("hugging_face_id");
});

test("a configuration takes the quantizations that OpenRouter knows, and no other", () => {
  const read = (name: string) =>
    configSchema.safeParse({
      models: [{ id: "m", card: { quantization: name }, servers: [{ url: "http://127.0.0.1:1" }] }],
    }).success;
  expect(quantizations.filter((name) => !read(name))).toEqual([]);
  expect(read("fp7")).toBe(false);
});

test("another version is refused by name", async () => {
  expect(await ask("/api/v1/models?schema_version=3")).toMatchObject({
    status: 400,
    json: { error: { param: "schema_version", message: expect.stringContaining("2.4") } },
  });
});

// OpenRouter publishes the schema of the current document: docs/listings.md.
const schemaFile = process.env.OPENROUTER_SCHEMA;
if (schemaFile !== undefined) {
  test("OpenRouter's own schema takes the current document", async () => {
    const openapi = JSON.parse(readFileSync(schemaFile, "utf8"));
    const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(openapi, "openrouter");
    const isValid = ajv.compile({ $ref: "openrouter#/components/schemas/ModelDocumentV2" });
    const { json } = await ask("/api/v1/models?schema_version=2.4");
    expect(json.data.flatMap((model) => (isValid(model) ? [] : (isValid.errors ?? [])))).toEqual([]);
  });
}
