import type { Logger } from "../../../../lib/logger.ts";
import type { KnownMove, Move } from "../../../metering/moves/interface.ts";
import type { MoveEnds } from "../../../metering/moves/mover.ts";
import type { Shard } from "../open-shards.ts";
import type { Shards } from "../shards.ts";
import { findLostHalves } from "./lost-halves.ts";
import type { Places } from "./places.ts";

/** Dependencies besides the databases. */
interface Mending {
  readonly ends: (move: Move) => MoveEnds;
  readonly logger: Logger;
}

/**
 * Mends moves of which a database has forgotten its half because it was restored to a state before them, so that no
 * money is in two databases or in none. Where the account left it is taken out again; what it took along arrived once
 * and is not entered again. Where it arrived it arrives again, as it left. Looks at the databases that are there.
 */
export async function mendMoves(shards: Shards<Shard>, places: Places, mending: Mending): Promise<void> {
  const there = shards.numbers.flatMap((number) => {
    const shard = shards.find(number);
    return shard === undefined ? [] : [{ number, storage: shard.foundation.storage }];
  });
  for (const from of there) {
    for (const to of there.filter((other) => other !== from)) {
      const { unleft, uncome } = await findLostHalves(from, to);
      for (const move of unleft.filter(({ accountId }) => places.locate(accountId) !== from.number)) {
        await takeOut(move, mending);
      }
      // Whether the account has moved on from there is known only when all databases are there.
      for (const move of shards.areMissing ? [] : uncome.filter((one) => places.isLast(one))) {
        await bringAgain(move, mending);
      }
    }
  }
}

const facts = ({ id, accountId, from, to }: KnownMove) => ({ move: id, accountId, from, to });

/**
 * Closes an account in the database that it left. The move is late at once, so the work on unfinished moves completes
 * it.
 */
async function takeOut(move: KnownMove, { ends, logger }: Mending): Promise<void> {
  await ends(move).departure.closeAgain(move, new Date(0));
  logger.error(facts(move), "a database was restored to before an account left it: it is taken out again");
}

async function bringAgain(move: KnownMove, { ends, logger }: Mending): Promise<void> {
  const { departure, arrival, tell } = ends(move);
  const parcel = await departure.recall(move);
  try {
    await arrival.mustTake(move.accountId);
  } catch (error) {
    logger.error({ error, ...facts(move) }, "a database was restored to before an account came, and has it as of then");
    return;
  }
  if (parcel === undefined) {
    logger.error(facts(move), "a database was restored to before an account came, and nobody knows what it had");
    return;
  }
  await arrival.arrive(move, parcel);
  await tell();
  logger.error(facts(move), "a database was restored to before an account came: it has come again, as it left");
}
