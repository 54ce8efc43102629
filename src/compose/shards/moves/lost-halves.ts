import { noId } from "../../../metering/ledger/wallet/wallet-store.ts";
import type { KnownMove } from "../../../metering/moves/interface.ts";
import type { Storage } from "../../../storage/orm.ts";
import { type MoveRow, moveColumns, toMove } from "./known-moves.ts";

/** Moves in one page. */
const pageSize = 1000;

/** One database, and its number. */
export interface NumberedStorage {
  readonly number: number;
  readonly storage: Storage;
}

/** Moves that only one of their databases knows, because the other was restored to a state before them. */
export interface LostHalves {
  /** Moves that arrived, but have not left according to the database that they left. The newest of an account first. */
  readonly unleft: readonly KnownMove[];
  /** Moves that left, but have not arrived in the other database. */
  readonly uncome: readonly KnownMove[];
}

/**
 * Finds moves from one database to another of which one has forgotten its half. A move leaves before it arrives and is
 * done after that. The half that is written first is read last, so that a move under way meanwhile looks whole.
 */
export async function findLostHalves(from: NumberedStorage, to: NumberedStorage): Promise<LostHalves> {
  const way = `kind = 'account' and from_shard = ${from.number} and to_shard = ${to.number}`;
  const unleft = await findUnknown(to.storage, `incoming and ${way}`, [from.storage, "state in ('sent', 'done')"]);
  const uncome = await findUnknown(from.storage, `state = 'done' and ${way}`, [to.storage, "incoming"]);
  return { unleft: unleft.sort((one, other) => other.generation - one.generation), uncome };
}

/**
 * Moves of one database that meet a condition, but of which another database has no row that meets the other condition.
 */
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
