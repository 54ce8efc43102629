import { type Inspection, type Subject, wrong } from "../shared/inspection/inspection.ts";
import type { Probe } from "../shared/inspection/probe.ts";
import { flagIn } from "../shared/inspection/told.ts";
import { inspectInfo } from "./info.ts";

/** Inspects TEI with `/info`. */
export async function inspect(probe: Probe, subject: Subject): Promise<Inspection> {
  const info = await probe.json("/info");
  if (info === undefined) {
    return { facts: {}, remarks: [wrong("tells nothing on /info: is it TEI?")] };
  }
  return inspectInfo(
    {
      version: info.version,
      maxInputLength: info.max_input_length,
      maxBatchTokens: info.max_batch_tokens,
      maxConcurrentRequests: info.max_concurrent_requests,
      maxClientBatchSize: info.max_client_batch_size,
      autoTruncate: flagIn(info.auto_truncate),
    },
    subject,
  );
}
