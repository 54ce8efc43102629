import { noId } from "../../../metering/ledger/wallet/wallet-store.ts";
import type { KnownMove } from "../../../metering/moves/interface.ts";
import type { MoveState } from "../../../storage/entities/account-move.ts";
import type { Storage } from "../../../storage/orm.ts";

/** Moves in one page. */
const pageSize = 1000;
/** Changes up to this much older than the newest known one are read again: they may have been committed later. */
const overlapMs = 60_000;

/** A row of a move as it is read. */
export interface MoveRow {
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

/** A move out of a database that is not over. */
export interface OpenMove extends KnownMove {
  /** Whether the move is to be given up now if it has not left yet. */
  readonly isLate: boolean;
}

/** The columns of `MoveRow`. */
export const moveColumns = `id, account_id, kind, generation, from_shard, to_shard, incoming, state,
  floor(extract(epoch from changed_at) * 1000)::text as changed_ms`;

/** The move in a row. */
export const toMove = (row: MoveRow): KnownMove => ({
  ...{ id: row.id, accountId: row.account_id, kind: row.kind, generation: row.generation },
  ...{ from: row.from_shard, to: row.to_shard, incoming: row.incoming, state: row.state },
});

/** Reads the moves of one database: all at first, then those that have changed. */
export class KnownMoves {
  readonly #storage: Storage;
  #readTo: number | undefined;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /**
   * Calls back with every move that has changed since the last time, and some again. Returns whether these were all
   * moves: at first, and when the newest known one is gone because the database was restored to a state before it.
   */
  async read(note: (move: KnownMove) => void): Promise<boolean> {
    const before = this.#readTo;
    this.#readTo = await this.#readFrom(before ?? 0, note);
    if (before !== undefined && this.#readTo >= before) {
      return false;
    }
    if (before !== undefined) {
      this.#readTo = await this.#readFrom(0, note);
    }
    return true;
  }

  /** Reads the moves changed since a time. Returns when the newest of them changed. 0: there is none. */
  async #readFrom(time: number, note: (move: KnownMove) => void): Promise<number> {
    const since = new Date(Math.max(0, time - overlapMs));
    let newest = 0;
    for (let after = noId; ; ) {
      const rows = await this.#storage.orm.em
        .fork()
        .execute<MoveRow[]>(
          `select ${moveColumns} from account_move where changed_at >= ? and id > ? order by id limit ${pageSize}`,
          [since, after],
        );
      for (const row of rows) {
        note(toMove(row));
        newest = Math.max(newest, Number(row.changed_ms));
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < pageSize) {
        return newest;
      }
      after = last.id;
    }
  }

  /** Moves out of this database that are not over, and whether each is to be given up now. */
  async findOpen(now: Date): Promise<OpenMove[]> {
    const rows = await this.#storage.orm.em.fork().execute<(MoveRow & { late: boolean })[]>(
      `select ${moveColumns}, until < ? as late from account_move
       where state in ('closing', 'sent') and not incoming order by id limit ${pageSize}`,
      [now],
    );
    return rows.map((row) => ({ ...toMove(row), isLate: row.late }));
  }
}
