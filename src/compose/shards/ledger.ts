import { readRequestTime } from "../../../lib/ids/request-id.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import type { CoreLedger } from "../../metering/ledger/core-ledger.ts";
import type { HoldRequest, LedgerState } from "../../metering/ledger/interface.ts";
import { duplicate } from "../../metering/ledger/running-requests.ts";
import { isMoving } from "../../storage/moving.ts";
import type { Moves } from "./moves/moves.ts";
import type { Shard } from "./open-shards.ts";
import type { Shards } from "./shards.ts";

/** How old an id of our own may be for it to be new to all databases: the ledger looks older ones up. */
const freshMs = 10_000;

/** The ledger of each account's own database. */
export function routeLedger(shards: Shards<Shard>, moves: Pick<Moves, "areNone" | "whereItIs">): CoreLedger {
  const of = (id: string) => shards.of(id).books.ledger;
  const present = () => shards.present().map(({ books }) => books.ledger);
  return {
    async hold(request, signal) {
      if (moves.areNone) {
        try {
          return await of(request.accountId).hold(request, signal);
        } catch (error) {
          if (!isMoving(error)) {
            throw error;
          }
        }
      }
      return moves.whereItIs(request.accountId, async ({ foundation, books }) => {
        await refuseRepetition(shards.everywhere(request.accountId), request, foundation.clock);
        return books.ledger.hold(request, signal);
      });
    },
    budgetState: async (budget, accountId = budget.id) => of(accountId).budgetState(budget, accountId),
    fundingState: async (accountId) => of(accountId).fundingState(accountId),
    held: (accountId) => of(accountId).held(accountId),
    settleLate: async (charge) => of(charge.accountId).settleLate(charge),
    refresh: async (accountId) => of(accountId).refresh(accountId),
    callIn: async (accountId) => of(accountId).callIn(accountId),
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

/** Throws DUPLICATE_REQUEST when an account that has moved ran a request under this id where it was before. */
async function refuseRepetition(
  [, ...before]: readonly Shard[],
  request: HoldRequest,
  clock: Pick<Clock, "now">,
): Promise<void> {
  const madeAt = readRequestTime(request.requestId);
  if (before.length === 0 || (madeAt !== undefined && Math.abs(clock.now() - madeAt) < freshMs)) {
    return;
  }
  for (const { books } of before) {
    if (await books.store.isCharged(request.accountId, request.requestId)) {
      throw duplicate(request);
    }
  }
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
