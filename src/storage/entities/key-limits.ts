import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import { budgetPeriods } from "#lib/limits/budget-period.ts";
import type { LimitField } from "#lib/limits/key-limits.ts";
import { serviceClasses } from "#lib/limits/service-class.ts";
import { amount } from "./amount.ts";

/** The limits of a key: columns of its row. What each means is in lib/limits/key-limits.ts. Null: no limit. */
export const KeyLimits = defineEntity({
  name: "KeyLimits",
  embeddable: true,
  properties: {
    rpm: p.integer().nullable(),
    tokensPerMinute: p.integer().nullable(),
    maxInFlight: p.integer().nullable(),
    budgetPicoUsd: amount().name("budget").nullable(),
    /** Set where there is a budget, and only there. */
    budgetPeriod: p.enum(budgetPeriods).nullable(),
    serviceClass: p.enum(serviceClasses).nullable(),
    expiresAt: p.datetime(3).nullable(),
    models: p.json<readonly string[]>().nullable(),
  } satisfies Record<LimitField, unknown>,
});
export type KeyLimits = InferEntity<typeof KeyLimits>;
