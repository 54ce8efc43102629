import type { LedgerStore } from "#src/money/model/store/ledger.ts";

/** The store's functions whose replies each fault loses. */
export const lostReplies = {
  after: ["settle"],
  lost: ["acquire", "giveBack", "close", "acquireBudget", "giveBackBudgets", "closeBudgets"],
};

/** What happens to a store's functions now. */
export interface Fate {
  isDead(): boolean;
  isAway(name: string): boolean;
  losesReply(name: string): boolean;
}

/** The store of one process: it fails when told so, and does nothing any more once the process is dead. */
export function mortal(store: LedgerStore, { isDead, isAway, losesReply }: Fate): LedgerStore {
  const never = new Promise(() => {});
  return new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== "function" || name === "isViolation") {
        return value;
      }
      return async (...parameters: unknown[]) => {
        if (isDead()) {
          return never;
        }
        if (isAway(String(name))) {
          throw new Error("the store is away");
        }
        const result = await value.apply(target, parameters);
        if (isDead()) {
          return never;
        }
        if (losesReply(String(name))) {
          throw new Error("the reply is lost");
        }
        return result;
      };
    },
  });
}
