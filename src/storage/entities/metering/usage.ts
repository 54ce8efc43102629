import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import { amount, maxAmount } from "../amount.ts";

/** A column of tokens. An engine may count more than 32 bits hold. A count above 2^53 never becomes a charge. */
const count = () => p.bigint("number");

/** How a charged request ended. recovered: its core died, and the last note in its journal was charged. */
export const usageStatuses = ["completed", "cancelled", "failed", "recovered"] as const;

/** Why an answer ended. */
export const finishNames = ["stop", "length", "tool_calls", "content_filter"] as const;
export type FinishName = (typeof finishNames)[number];

/** Whether an answer was sent as it was produced, or gathered first. */
export const deliveries = ["streamed", "gathered"] as const;
export type Delivery = (typeof deliveries)[number];

/**
 * The receipt of one charged run of a request. It has no foreign keys, because rows come by the thousand a second;
 * reconciliation proves what foreign keys would.
 */
export const Usage = defineEntity({
  name: "Usage",
  properties: {
    requestId: p.string().primary(),
    /** Made at admission: a request id that ran twice has two receipts. All zeros: charged before runs had ids. */
    runId: p.uuid().primary(),
    accountId: p.uuid(),
    /** Empty: a service token. */
    keyId: p.string(),
    model: p.string(),
    inputTokens: count(),
    outputTokens: count(),
    /** The cost of the tokens, including the shortfall. */
    cost: amount(),
    /** The part of the cost that no lot could pay. */
    shortfall: amount(),
    status: p.enum(usageStatuses),
    settledAt: p.datetime(3),
    /** The terms of its admission, in pico-USD a token: no token cost more. Null: charged before they were stored. */
    maxInputRate: amount().nullable(),
    maxOutputRate: amount().nullable(),
    /**
     * The tokens that it was admitted with: money was held for them at these rates. Null: charged before they were
     * stored.
     */
    admittedInputTokens: count().nullable(),
    admittedOutputTokens: count().nullable(),
    /** Why the answer ended. This and the following columns are null when unknown. */
    finish: p.string().nullable(),
    /** Whether the answer was sent as it was produced. */
    delivery: p.string().nullable(),
    /** Milliseconds from the request to the first output, and to the end. */
    firstTokenMs: count().nullable(),
    durationMs: count().nullable(),
    reasoningTokens: count().nullable(),
    cachedInputTokens: count().nullable(),
    /** The inference server that answered. */
    server: p.string().nullable(),
    /** The surface that the request came through. */
    surface: p.string().nullable(),
    /** The slice of its key's budget that its cost counts in. Null: the key had no budget. */
    budgetSliceId: p.uuid().nullable(),
    /** Who used it: JSON text of an object with the values of its attribution labels by name. Null: it has none. */
    labels: p.text().nullable(),
  },
  indexes: [{ properties: ["accountId", "settledAt"] }, { properties: ["settledAt"] }],
  checks: [
    { name: "usage_tokens", expression: "input_tokens >= 0 and output_tokens >= 0" },
    { name: "usage_cost", expression: `shortfall >= 0 and shortfall <= cost and cost <= ${maxAmount}` },
  ],
});
export type Usage = InferEntity<typeof Usage>;

/** The part of a request that one slice paid. */
export const UsageLine = defineEntity({
  name: "UsageLine",
  properties: {
    requestId: p.string().primary(),
    runId: p.uuid().primary(),
    /** Counts from 0 in the order of spending. */
    seq: p.integer().primary(),
    lotId: p.uuid(),
    sliceId: p.uuid(),
    inputTokens: count(),
    outputTokens: count(),
    /** The lot's rates in pico-USD a token, or the rates of the request's admission when these are lower. */
    inputRate: amount(),
    outputRate: amount(),
    cost: amount(),
  },
  checks: [
    {
      name: "usage_line_amounts",
      expression: `input_tokens >= 0 and output_tokens >= 0 and cost >= 0 and cost <= ${maxAmount}`,
    },
  ],
});
export type UsageLine = InferEntity<typeof UsageLine>;
