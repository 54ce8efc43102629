import type { Dice } from "../world/dice.ts";
import type { LotFacts, PurseKind } from "./protocol.ts";

/** A key, and the purses that its requests need. */
export interface Key {
  readonly id: string;
  readonly purses: readonly { readonly id: string; readonly kind: PurseKind }[];
}

/** Whether accounts have more than they spend in a world, or next to nothing. */
export type Wealth = "rich" | "poor";

/** A limit that is never reached. */
const plenty = 1_000_000;
/** The approximate amount of one top-up, in usual requests. */
const topUps = { rich: [plenty], poor: [20], both: [3, 20, 300, 10_000] } as const;

/** A customer, and the regions of its programs. */
export interface Customer {
  readonly accountId: string;
  readonly keys: readonly Key[];
  /** The customer's share of all traffic. */
  readonly weight: number;
  /** The share of its traffic in each region, in their order. */
  readonly shares: readonly { readonly at: number; readonly weight: number }[];
  /** The worst case of a usual request. */
  readonly size: number;
  /** The approximate amount of one top-up. */
  readonly topUp: number;
  /** The lots that limit its keys. */
  readonly limits: readonly LotFacts[];
}

/** Creates customers: in one region or in all, rich and poor, with and without limits on their keys. */
export function makeCustomers(count: number, regions: number, dice: Dice, wealth?: Wealth): Customer[] {
  return Array.from({ length: count }, (_, at) => {
    const accountId = `account ${at + 1}`;
    const size = dice.between(500, 5000) * 1_000_000;
    const topUp = size * dice.pick(topUps[wealth ?? "both"]);
    const money = { id: accountId, kind: "money" as const };
    const budget = { id: `${accountId}, budget`, kind: "budget" as const };
    const rate = { id: `${accountId}, rate`, kind: "rate" as const };
    const limit = (purse: typeof budget | typeof rate, amount: number): LotFacts => ({
      ...{ id: purse.id, purseId: purse.id, kind: purse.kind, order: 0, amount },
    });
    const isEverywhere = dice.chance(0.5);
    const favourite = dice.between(0, regions - 1);
    return {
      ...{ accountId, size, topUp, weight: dice.between(1, 5) },
      shares: Array.from({ length: regions }, (__, region) => ({
        at: region,
        weight: isEverywhere || region === favourite ? 10 : 1,
      })),
      keys: [
        { id: `${accountId}, key 1`, purses: [money] },
        { id: `${accountId}, key 2`, purses: [money, budget] },
        { id: `${accountId}, key 3`, purses: [money, rate] },
      ],
      limits: [
        limit(budget, size * (wealth === undefined ? dice.pick([5, 50, 1000]) : plenty)),
        limit(rate, wealth === undefined ? dice.pick([10, 60, 600]) : plenty),
      ],
    };
  });
}
