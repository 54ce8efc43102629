import { noId } from "../../../metering/ledger/wallet/wallet-store.ts";
import type { KnownMove } from "../../../metering/moves/interface.ts";
import type { Storage } from "../../../storage/orm.ts";
import { type MoveRow, moveColumns, toMove } from "./known-moves.ts";

/** Moves of one page. */
const pageSize = 1000;

/** One database, and the number that it has. */
export interface NumberedStorage {
  readonly number: number;
  readonly storage: Storage;
}

/** Moves that one of their databases knows and the other does not, since that was restored to before them. */
export interface LostHalves {
  /** They came, and did not leave by what the database says that they left. The newest of an account first. */
  readonly unleft: readonly KnownMove[];
  /** They left, and where they went nothing has come. */
  readonly uncome: readonly KnownMove[];
}

/**
 * Looks for moves from one database to another of which one of them has forgotten its half. A move leaves before it comes and is
 * done after that, and the half that is written first is read last, so that one that goes on meanwhile is whole.
 */
export async function findLostHalves(from: NumberedStorage, to: NumberedStorage): Promise<LostHalves> {
  const way = `kind = 'account' and from_shard = ${from.number} and to_shard = ${to.number}`;
  const unleft = await findUnknown(to.storage, `incoming and ${way}`, [from.storage, "state in ('sent', 'done')"]);
  const uncome = await findUnknown(from.storage, `state = 'done' and ${way}`, [to.storage, "incoming"]);
  return { unleft: unleft.sort((one, other) => other.generation - one.generation), uncome };
}

/** Moves of one database, as a condition says, of which another one has no row that another condition is true of. */
async function findUnknown(
  known: Storage,
  condition: string,
  [other, otherCondition]: readonly [Storage, string],
): Promise<KnownMove[]> {
  const unknown: KnownMove[] = [];
  for (let after = noId; ; ) {
    const rows = await known.orm.em
      .fork()
      .execute<MoveRow[]>(
        `select ${moveColumns} from account_move where ${condition} and id > ? order by id limit ${pageSize}`,
        [after],
      );
    const found = await other.orm.em.fork().execute<{ id: string }[]>(
      `select id from account_move where ${otherCondition}
           and id in (select text::uuid from jsonb_array_elements_text(?::jsonb) text)`,
      [JSON.stringify(rows.map(({ id }) => id))],
    );
    const there = new Set(found.map(({ id }) => id));
    unknown.push(...rows.filter(({ id }) => !there.has(id)).map(toMove));
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageSize) {
      return unknown;
    }
    after = last.id;
  }
}
