import { type Inspection, type Subject, wrong } from "../shared/inspection/inspection.ts";
import { flagIn, type Probe } from "../shared/inspection/probe.ts";
import { inspectInfo } from "./info.ts";

/** Inspects TEI by `/info`. */
export async function inspect(probe: Probe, subject: Subject): Promise<Inspection> {
  const info = await probe.json("/info");
  if (info === undefined) {
    return { facts: {}, remarks: [wrong("tells nothing on /info: is it TEI?")] };
  }
  return inspectInfo(
    {
      version: String(info.version),
      maxInputLength: Number(info.max_input_length),
      maxBatchTokens: Number(info.max_batch_tokens),
      maxConcurrentRequests: Number(info.max_concurrent_requests),
      maxClientBatchSize: Number(info.max_client_batch_size),
      autoTruncate: flagIn(info.auto_truncate),
    },
    subject,
  );
}
