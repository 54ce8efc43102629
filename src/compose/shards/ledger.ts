import type { CoreLedger } from "../../metering/ledger/core-ledger.ts";
import type { LedgerState } from "../../metering/ledger/interface.ts";
import type { Shard } from "./open-shards.ts";
import type { Shards } from "./shards.ts";

/** The ledger of each account's own database. */
export function routeLedger(shards: Shards<Shard>): CoreLedger {
  const of = (id: string) => shards.of(id).books.ledger;
  const present = () => shards.present().map(({ books }) => books.ledger);
  return {
    hold: async (request, signal) => of(request.accountId).hold(request, signal),
    budgetState: async (budget) => of(budget.id).budgetState(budget),
    fundingState: async (accountId) => of(accountId).fundingState(accountId),
    held: (accountId) => of(accountId).held(accountId),
    settleLate: async (charge) => of(charge.accountId).settleLate(charge),
    refresh: async (accountId) => of(accountId).refresh(accountId),
    withFreeReturned: async (accountId, run) => of(accountId).withFreeReturned(accountId, run),
    unknownSlices: async () => (await Promise.all(present().map((ledger) => ledger.unknownSlices()))).flat(),
    async caughtUp(accountId) {
      // Nobody waits for a database that is away but those whose account is there.
      const ledgers = accountId === undefined ? present() : [of(accountId)];
      await Promise.all(ledgers.map((ledger) => ledger.caughtUp()));
    },
    state: () =>
      addStates(
        present().map((ledger) => ledger.state()),
        shards.count,
      ),
    async close() {
      await Promise.all(present().map((ledger) => ledger.close()));
    },
  };
}

/** Admits when all of so many ledgers are there and admit: whoever watches learns of one that does not. */
function addStates(states: readonly LedgerState[], count: number): LedgerState {
  const sum = (name: "holds" | "held" | "backlog" | "journalBytes" | "journalSetAside") =>
    states.reduce((total, state) => total + state[name], 0);
  return {
    ...{ holds: sum("holds"), held: sum("held"), backlog: sum("backlog") },
    ...{ journalBytes: sum("journalBytes"), journalSetAside: sum("journalSetAside") },
    admits: states.length === count && states.every(({ admits }) => admits),
  };
}
