import * as z from "zod";
import { routing, seconds } from "../values.ts";

const promised = (serviceClass: string) =>
  seconds
    .optional()
    .describe(
      `Promise of a first token to requests of the class ${serviceClass}: so many seconds. A request that no server would begin by then is refused at once. Default: requests wait.`,
    );

/** Settings for choosing servers, waiting for them and watching them. */
export const fleet = z.strictObject({
  routing: routing.default("prefix").describe("How a server is chosen, for models without a routing of their own."),
  prefix_blocks: z
    .int()
    .positive()
    .max(16_777_216)
    .default(262_144)
    .describe("Blocks of prompts that prefix routing remembers for each model; a block takes at most 130 bytes."),
  reserve: z
    .number()
    .min(0)
    .max(0.5)
    .default(0.125)
    .describe(
      "The part of a model's places, and of its servers' KV caches, that one account leaves free for others. 0: nothing.",
    ),
  queue: z.int().min(0).default(1000).describe("Requests of a model that may wait for a free server."),
  queue_timeout_s: seconds.default(10).describe("How long a request may wait there."),
  first_token_promise_s: z
    .strictObject({ priority: promised("priority"), standard: promised("standard"), flex: promised("flex") })
    .optional()
    .describe("What classes are promised. Default: nothing."),
  connect_timeout_s: seconds.default(2).describe("How long a server may take to accept a connection."),
  first_token_timeout_s: seconds.default(120).describe("The longest wait for the first output."),
  idle_timeout_s: seconds.default(60).describe("The longest silence of a running stream."),
  total_timeout_s: seconds.default(1800).describe("The longest that a request may run."),
  health_interval_s: seconds.default(5).describe("Seconds between two health checks of a server."),
  resolve_interval_s: seconds
    .default(10)
    .describe("Seconds between two lookups of the name of servers with resolve: true."),
  cache_salt: z.boolean().default(true).describe("Keep accounts apart in the engines' prefix caches."),
});

/** Limits for readers of streamed answers. */
export const readers = z.strictObject({
  buffer_kib: z
    .int()
    .positive()
    .max(65_536)
    .default(256)
    .describe("KiB of a streamed answer that are read from the engine ahead of a slow reader."),
  memory_mib: z
    .int()
    .positive()
    .max(1_048_576)
    .default(128)
    .describe(
      "MiB for everything that waits for slow readers: an eighth of V8's heap at most. One account has an eighth of that.",
    ),
  min_bytes_per_s: z
    .number()
    .positive()
    .max(1e9)
    .default(128)
    .describe(
      "Bytes a second. A stream ends when its reader takes less for longer than patience_s. The reader pays for what ran.",
    ),
  patience_s: seconds.default(60).describe("How long a reader may take less than min_bytes_per_s."),
});
