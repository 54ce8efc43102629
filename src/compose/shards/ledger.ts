import { readRequestTime } from "../../../lib/ids/request-id.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import type { CoreLedger } from "../../metering/ledger/core-ledger.ts";
import type { HoldRequest, LedgerState } from "../../metering/ledger/interface.ts";
import { duplicate } from "../../metering/ledger/running-requests.ts";
import { isMoving } from "../../storage/moving.ts";
import type { Moves } from "./moves/moves.ts";
import type { Shard } from "./open-shards.ts";
import type { Shards } from "./shards.ts";

/** An id of our own younger than this, in milliseconds, is new to all databases. The ledger looks older ids up. */
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
      // Only callers with an account there wait for a database that is away.
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

/** Throws DUPLICATE_REQUEST when a moved account ran a request under this id in an earlier database. */
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

/**
 * The states of all present ledgers together. `admits` is true only when all `count` ledgers are there and admit, so
 * that monitoring sees one that does not.
 */
function addStates(states: readonly LedgerState[], count: number): LedgerState {
  const sum = (name: "holds" | "held" | "backlog" | "journalBytes" | "journalSetAside") =>
    states.reduce((total, state) => total + state[name], 0);
  return {
    ...{ holds: sum("holds"), held: sum("held"), backlog: sum("backlog") },
    ...{ journalBytes: sum("journalBytes"), journalSetAside: sum("journalSetAside") },
    admits: states.length === count && states.every(({ admits }) => admits),
  };
}
