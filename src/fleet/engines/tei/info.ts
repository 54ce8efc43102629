import { type Inspection, type Subject, toRemarks, warning, wrong } from "../shared/inspection/inspection.ts";
import { figureIn, textIn } from "../shared/inspection/told.ts";

/** TEI's report about itself, over either protocol, unchecked. */
export interface TeiReport {
  readonly version: unknown;
  readonly maxInputLength: unknown;
  readonly maxBatchTokens: unknown;
  readonly maxConcurrentRequests: unknown;
  readonly maxClientBatchSize: unknown;
  /** Undefined over gRPC, where every request says it. */
  readonly autoTruncate?: boolean | undefined;
}

/** Judges TEI's report about itself. Each input counts as a separate request. */
export function inspectInfo(info: TeiReport, { server, model }: Subject): Inspection {
  const version = textIn(info.version);
  const { autoTruncate } = info;
  const maxInputLength = figureIn(info.maxInputLength);
  const maxConcurrentRequests = figureIn(info.maxConcurrentRequests);
  const maxClientBatchSize = figureIn(info.maxClientBatchSize);
  if (!maxInputLength || !maxConcurrentRequests || !maxClientBatchSize) {
    return { version, facts: {}, remarks: [wrong("tells limits that can be none: is it TEI?")] };
  }
  const inputs = server.capacity * maxClientBatchSize;
  return {
    version,
    facts: {
      "input length": maxInputLength,
      "batch tokens": figureIn(info.maxBatchTokens),
      "inputs a call": maxClientBatchSize,
      "inputs at once": maxConcurrentRequests,
      "auto truncate": autoTruncate,
    },
    remarks: toRemarks(
      [
        maxInputLength < model.context_length,
        wrong(
          `takes inputs of ${maxInputLength} tokens, fewer than context_length ${model.context_length}: raise --max-batch-tokens, if the model itself takes them`,
        ),
      ],
      [
        autoTruncate,
        warning(
          "cuts inputs that are too long where a request does not forbid it, as ours do: --auto-truncate false keeps other callers from it, too",
        ),
      ],
      [
        inputs > maxConcurrentRequests,
        warning(
          `refuses more than ${maxConcurrentRequests} inputs at once, and capacity: ${server.capacity} may send ${inputs}: set capacity: ${Math.max(1, Math.floor(maxConcurrentRequests / maxClientBatchSize))}, or raise --max-concurrent-requests`,
        ),
      ],
    ),
  };
}
