import { formatUsd } from "#lib/money/money.ts";
import type { Usage } from "#src/storage/entities/metering/usage.ts";

/**
 * The content type of a batch. https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md
 * JSON is always UTF-8, and OpenMeter refuses a type with a parameter.
 */
export const batchType = "application/cloudevents-batch+json";

const eventType = "tollgate.request.charged";

/**
 * A receipt as a CloudEvent. Its id is the receipt's, so a request that ran twice has two. The same event may be sent
 * again.
 */
export function toCloudEvent(usage: Usage, source: string) {
  const { requestId, runId, accountId, keyId, inputTokens, outputTokens } = usage;
  return {
    specversion: "1.0",
    id: `${requestId}/${runId}`,
    source,
    type: eventType,
    subject: accountId,
    time: usage.settledAt.toISOString(),
    datacontenttype: "application/json",
    data: known({
      request_id: requestId,
      run_id: runId,
      account_id: accountId,
      key_id: keyId,
      model: usage.model,
      input_tokens: inputTokens,
      output_tokens: outputTokens,
      total_tokens: inputTokens + outputTokens,
      reasoning_tokens: usage.reasoningTokens,
      cached_input_tokens: usage.cachedInputTokens,
      cost_usd: formatUsd(BigInt(usage.cost)),
      status: usage.status,
      finish_reason: usage.finish,
      surface: usage.surface,
      server: usage.server,
      first_token_ms: usage.firstTokenMs,
      duration_ms: usage.durationMs,
    }),
  };
}

/** Leaves out the facts that are not known: OpenMeter refuses a batch with null in its data. */
function known(facts: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null && value !== undefined));
}
