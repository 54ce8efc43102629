import type { Budget, Caller } from "#src/wire/principal.ts";
import type { Dice } from "../world/dice.ts";

/** One USD in pico-USD. */
export const usd = 1_000_000_000_000;

/** A customer of the simulation. */
export interface Customer {
  readonly accountId: string;
  /** Its keys in their current state. */
  readonly callers: Caller[];
  /** The highest limit that each budget has had. */
  readonly budgetLimits: Map<string, number>;
  /** The customer's share of all traffic. */
  readonly weight: number;
  /** The approximate amount of one top-up. */
  readonly purse: number;
}

/** Creates customers, rich and poor. Some keys have budgets and limits of their own. */
export function makeCustomers(count: number, dice: Dice): Customer[] {
  return Array.from({ length: count }, () => {
    const accountId = dice.uuid();
    const purse = Math.floor(usd * dice.pick([0.002, 0.02, 0.2, 5]));
    const caller = (more: Partial<Caller>): Caller => ({ kind: "caller", accountId, keyId: dice.uuid(), ...more });
    const budget = (): Budget => ({
      id: dice.uuid(),
      limit: Math.floor(purse * dice.pick([0.1, 0.5, 3])),
      period: dice.pick(["total", "day", "week", "month"] as const),
    });
    const limited = { tokensPerMinute: dice.pick([20_000, 300_000]), maxInFlight: dice.pick([2, 20]) };
    const total: Budget = { ...budget(), period: "total" };
    const callers = [
      ...[caller({ keyId: "" }), caller({}), caller({ budget: budget() })],
      ...[caller({ budget: total }), caller({ ...limited, rpm: dice.pick([60, 600]) })],
    ];
    const budgetLimits = new Map(
      callers.flatMap(({ budget: one }) => (one === undefined ? [] : [[one.id, one.limit] as const])),
    );
    return { accountId, callers, budgetLimits, weight: dice.between(1, 5), purse };
  });
}
