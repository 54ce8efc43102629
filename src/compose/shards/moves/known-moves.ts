import { noId } from "../../../metering/ledger/wallet/wallet-store.ts";
import type { KnownMove } from "../../../metering/moves/interface.ts";
import type { MoveState } from "../../../storage/entities/account-move.ts";
import type { Storage } from "../../../storage/orm.ts";

/** Moves of one page. */
const pageSize = 1000;
/** Changes this much older than the newest known one are read again: they may have been committed later. */
const overlapMs = 60_000;

interface Row {
  readonly id: string;
  readonly account_id: string;
  readonly kind: KnownMove["kind"];
  readonly generation: number;
  readonly from_shard: number;
  readonly to_shard: number;
  readonly incoming: boolean;
  readonly state: MoveState;
  readonly changed_ms: string;
}

const columns = `id, account_id, kind, generation, from_shard, to_shard, incoming, state,
  floor(extract(epoch from changed_at) * 1000)::text as changed_ms`;

const toMove = (row: Row): KnownMove => ({
  ...{ id: row.id, accountId: row.account_id, kind: row.kind, generation: row.generation },
  ...{ from: row.from_shard, to: row.to_shard, incoming: row.incoming, state: row.state },
});

/** Reads what one database says of moves: all at first, then what has changed. */
export class KnownMoves {
  readonly #storage: Storage;
  #readTo = 0;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** Calls back with every move that has changed since the last time, some of them again. */
  async read(note: (move: KnownMove) => void): Promise<void> {
    const since = new Date(Math.max(0, this.#readTo - overlapMs));
    let newest = this.#readTo;
    for (let after = noId; ; ) {
      const rows = await this.#storage.orm.em
        .fork()
        .execute<Row[]>(
          `select ${columns} from account_move where changed_at >= ? and id > ? order by id limit ${pageSize}`,
          [since, after],
        );
      for (const row of rows) {
        note(toMove(row));
        newest = Math.max(newest, Number(row.changed_ms));
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < pageSize) {
        break;
      }
      after = last.id;
    }
    this.#readTo = newest;
  }

  /** Moves out of this database that are not over, and whether they are to be given up by now. */
  async findOpen(now: Date): Promise<(KnownMove & { readonly isLate: boolean })[]> {
    const rows = await this.#storage.orm.em.fork().execute<(Row & { late: boolean })[]>(
      `select ${columns}, until < ? as late from account_move
       where state in ('closing', 'sent') and not incoming order by id limit ${pageSize}`,
      [now],
    );
    return rows.map((row) => ({ ...toMove(row), isLate: row.late }));
  }
}
