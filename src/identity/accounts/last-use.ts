import type { PageStart } from "#lib/rpc/pages.ts";
import type { Storage } from "#src/storage/storage.ts";
import { readUseKey } from "./keys/use-key.ts";

/** When an account was last used, by any of its keys. */
export interface AccountUse {
  readonly id: string;
  readonly lastUsedAt: Date;
}

/** The last uses of some accounts by their ids. Those whose keys were never used are not among them. */
export async function lastUses(storage: Storage, ids: readonly string[]): Promise<ReadonlyMap<string, Date>> {
  if (ids.length === 0) {
    return new Map();
  }
  const rows = await storage.orm.em.fork().execute<Row[]>(
    `select account_id as id, max(last_used_at) as used from api_key
     where account_id in (${ids.map(() => "?").join(", ")}) and last_used_at is not null group by account_id`,
    [...ids],
  );
  return new Map(rows.map(toUse).map(({ id, lastUsedAt }) => [id, lastUsedAt]));
}

interface Row {
  readonly id: string;
  readonly used: number | string | Date;
}

const toUse = ({ id, used }: Row): AccountUse => ({ id, lastUsedAt: new Date(used) });

/**
 * Accounts whose keys were used, those used last first, after a key made by `toUseKey`. Reads the times of all keys, of
 * which an account has few.
 */
export async function accountsByUse(storage: Storage, { after, limit }: PageStart): Promise<AccountUse[]> {
  const last = after === undefined ? undefined : readUseKey(after);
  const time = last?.usedAt && (storage.dialect === "sqlite" ? last.usedAt.getTime() : last.usedAt);
  const later = "having max(last_used_at) < ? or (max(last_used_at) = ? and account_id < ?)";
  const rows = await storage.orm.em.fork().execute<Row[]>(
    `select account_id as id, max(last_used_at) as used from api_key where last_used_at is not null
     group by account_id ${last === undefined ? "" : later} order by used desc, account_id desc limit ?`,
    last === undefined ? [limit] : [time, time, last.id, limit],
  );
  return rows.map(toUse);
}
