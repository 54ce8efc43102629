import * as z from "zod";
import { seconds } from "./values.ts";

/** Limits for clients of the public surfaces. */
export const http = z
  .strictObject({
    connections: z.int().min(10).max(1_000_000).default(20_000).describe("Connections to http, all together."),
    connections_per_address: z
      .int()
      .positive()
      .max(1_000_000)
      .default(1000)
      .describe("Connections of one address, or running requests of one client behind a trusted proxy."),
    header_timeout_s: seconds.default(15).describe("How long the head of a request may take to arrive."),
    body_timeout_s: seconds.default(120).describe("How long a whole request may take to arrive."),
    min_body_rate: z
      .int()
      .min(1)
      .max(1_000_000)
      .default(4096)
      .describe("The least bytes a second, on average, of a body that takes longer than 10 s to arrive."),
    body_memory_mib: z
      .int()
      .min(16)
      .max(65_536)
      .default(256)
      .describe(
        "Memory for bodies that are being received, all together; an eighth of the machine's or container's at most.",
      ),
    answer_memory_mib: z
      .int()
      .min(16)
      .max(65_536)
      .default(256)
      .describe(
        "Memory for answers that wait for slow readers, all together; an eighth of the machine's or container's at most.",
      ),
  })
  .superRefine(({ header_timeout_s, body_timeout_s }, context) => {
    if (body_timeout_s >= header_timeout_s) {
      return;
    }
    const message = `must be at least header_timeout_s, which is ${header_timeout_s}`;
    context.addIssue({ code: "custom", path: ["body_timeout_s"], message });
  })
  .prefault({})
  .describe("What clients of the public surfaces may cost before a request is run, in each process.");

/** The limits beyond which new requests are refused. */
export const overload = z
  .strictObject({
    max_lag_ms: z
      .int()
      .min(50)
      .max(60_000)
      .default(1000)
      .describe("New requests are refused while the event loop is later than this."),
    max_wait_ms: z
      .int()
      .min(10)
      .max(60_000)
      .default(100)
      .describe(
        "New requests of a network are refused while its first one that waits for its turn has waited for longer.",
      ),
    max_memory: z
      .number()
      .min(0.1)
      .max(1)
      .default(0.9)
      .describe("New requests are refused while more than this part of the memory is in use."),
  })
  .prefault({});

/** The end of the process. */
export const shutdown = z
  .strictObject({
    grace_s: z.number().min(0).max(3600).default(30).describe("How long running requests may go on after SIGTERM."),
  })
  .prefault({});
