import * as z from "zod";
import { engineNames, engineTransports } from "#lib/inference/engine-names.ts";
import { plainName, usd } from "../values.ts";

/** Engines whose requests may have a priority. */
const prioritizing: readonly string[] = ["vllm", "sglang"];

/** An inference server of a model. */
export const server = z
  .strictObject({
    url: z
      .string()
      .regex(
        /^(https?:\/\/[^/]+|grpcs?:\/\/[^/]+|dns:.+|ipv[46]:.+|file:\/\/\/.+)/,
        "must be a URL, such as http://10.0.0.5:8000",
      )
      .describe(
        "Where the inference server listens; for llama.cpp in process the model file, as file:///models/m.gguf.",
      ),
    engine: z.enum(engineNames).default("vllm").describe("Its protocol and dialect."),
    model: plainName.min(1).optional().describe("The server's own name of the model. Default: the model's id."),
    capacity: z
      .int()
      .positive()
      .max(100_000)
      .default(256)
      .describe(
        "Requests of this model that it may run at once. Models at one address share the largest capacity among them.",
      ),
    weight: z
      .number()
      .min(0)
      .max(1000)
      .default(1)
      .describe(
        "The server's part of the model's requests beside servers of other weights, such as 0.05 for a canary. 0: it gets what no other server can take.",
      ),
    priorities: z
      .boolean()
      .default(false)
      .describe(
        "Whether the server runs requests by priority and is told the class of each: vLLM with --scheduling-policy priority, SGLang with --enable-priority-scheduling. Others refuse the field.",
      ),
    kv_tokens: z
      .int()
      .positive()
      .max(1_000_000_000)
      .optional()
      .describe("Tokens that its KV cache holds, which prompts and answers share. Default: as the engine tells."),
    usd_per_hour: usd
      .optional()
      .describe("What the server costs an hour, in USD, all addresses of its name together; for the margin."),
    api_key_file: z.string().min(1).optional().describe("A file that holds the API key that it demands."),
    resolve: z
      .boolean()
      .default(false)
      .describe(
        "Whether every address of the host's name is a server of its own; the name is looked up every resolve_interval_s.",
      ),
  })
  .superRefine(({ url, engine, resolve, priorities }, context) => {
    if (priorities && !prioritizing.includes(engine)) {
      const message = `must be false for ${engine}: only ${prioritizing.join(" and ")} take priorities`;
      context.addIssue({ code: "custom", path: ["priorities"], message });
    }
    if (resolve && !/^https?:\/\/(?![\d.]+(:|\/|$)|\[)/.test(url)) {
      context.addIssue({ code: "custom", path: ["resolve"], message: "needs an http:// or https:// url with a name" });
    }
    if (url.startsWith("file:") && engine !== "llama.cpp") {
      context.addIssue({ code: "custom", path: ["engine"], message: "must be llama.cpp for a model file" });
    }
    if (!/^(grpcs?|dns|ipv[46]):/.test(url) || engineTransports[engine] === "grpc") {
      return;
    }
    context.addIssue({ code: "custom", path: ["url"], message: `must start with http:// or https:// for ${engine}` });
  });
