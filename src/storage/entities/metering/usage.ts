import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import { amount, maxAmount } from "../amount.ts";

/** A column of tokens. An engine may count more than 32 bits hold; what passes 2^53 never becomes a charge. */
const count = () => p.bigint("number");

/** How a charged request ended; recovered: its core died, and its journal's last record was billed. */
export const usageStatuses = ["completed", "cancelled", "failed", "recovered"] as const;

/** Why an answer ended. */
export const finishNames = ["stop", "length", "tool_calls", "content_filter"] as const;
export type FinishName = (typeof finishNames)[number];

/** Whether an answer was sent as it was produced, or gathered first. */
export const deliveries = ["streamed", "gathered"] as const;
export type Delivery = (typeof deliveries)[number];

/**
 * A charged run of a request: its receipt. Without foreign keys, because rows come by the thousand a second;
 * reconciliation proves what the keys would.
 */
export const Usage = defineEntity({
  name: "Usage",
  properties: {
    requestId: p.string().primary(),
    /** Made at admission: what ran twice under one request id has two receipts. All zeros: charged before runs had ids. */
    runId: p.uuid().primary(),
    accountId: p.uuid(),
    /** Empty: a service token. */
    keyId: p.string(),
    model: p.string(),
    inputTokens: count(),
    outputTokens: count(),
    /** The cost of the tokens, shortfall included. */
    cost: amount(),
    /** The part that no lot could pay. */
    shortfall: amount(),
    status: p.enum(usageStatuses),
    settledAt: p.datetime(3),
    /** The terms of its admission, in pico-USD a token: no token cost more. Null: charged before they were stored. */
    maxInputRate: amount().nullable(),
    maxOutputRate: amount().nullable(),
    /** The tokens that it was admitted with: at these rates they were held. Null: charged before they were stored. */
    admittedInputTokens: count().nullable(),
    admittedOutputTokens: count().nullable(),
    /** Why the answer ended. This and what follows is null where it is not known. */
    finish: p.string().nullable(),
    /** Whether it was sent as it was produced. */
    delivery: p.string().nullable(),
    /** Milliseconds from the request to the first output, and to the end. */
    firstTokenMs: count().nullable(),
    durationMs: count().nullable(),
    reasoningTokens: count().nullable(),
    cachedInputTokens: count().nullable(),
    /** The inference server that answered. */
    server: p.string().nullable(),
    /** The door that the request came through. */
    surface: p.string().nullable(),
    /** The slice of its key's budget that its cost counts in. Null: the key had no budget. */
    budgetSliceId: p.uuid().nullable(),
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
    /** The lot's rates in pico-USD a token, or those of the request's admission where these are lower. */
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
