import { Conditions } from "#src/money/books/receipts/conditions.ts";
import type { Row } from "#src/storage/reads/snapshot.ts";
import type { Storage } from "#src/storage/storage.ts";

import type { Found } from "./found.ts";
import { type Asked, queriesFor, type Search } from "./queries.ts";

/**
 * Finds what is in the database. Reads a snapshot, for which SQLite has a thread: names are searched row by row, as no
 * index knows the middle of a text; whatever grows with requests is asked for by whole ids alone.
 */
export async function findStored(storage: Storage, asked: Asked): Promise<Found[]> {
  const snapshot = await storage.snapshot();
  try {
    const kinds = new Map<Found["kind"], Map<string, Found>>();
    for (const search of queriesFor(storage.dialect, asked)) {
      if (search.kind !== "request" && kinds.get("request")?.size) {
        break; // a request's id names nothing else, and names take a look at every row
      }
      const found = kinds.get(search.kind) ?? new Map<string, Found>();
      kinds.set(search.kind, found);
      if (found.size >= asked.limit) {
        continue; // what is named less exactly has no room left
      }
      const { sql, parameters } = toStatement(search, asked);
      for (const row of await snapshot.few(sql, parameters)) {
        const thing = toFound(search, row);
        if (!found.has(thing.id) && found.size < asked.limit) {
          found.set(thing.id, thing);
        }
      }
    }
    return [...kinds.values()].flatMap((found) => [...found.values()]);
  } finally {
    await snapshot.close();
  }
}

/** A search as a statement, within the account that the caller may see. */
export function toStatement({ from, account, where, parameters, order }: Search, { accountId, limit }: Asked) {
  const conditions = new Conditions();
  conditions.add(`(${where})`, ...parameters);
  if (accountId !== "") {
    conditions.add(`${account} = ?`, accountId);
  }
  return { sql: `${from} ${conditions.where} ${order} limit ${limit}`, parameters: conditions.parameters };
}

function toFound({ kind }: Search, { id, name, account_id: account, mark }: Row): Found {
  const thing = { kind, id: String(id), name: String(name ?? ""), accountId: String(account ?? "") };
  return mark === undefined ? thing : { ...thing, mark: String(mark) };
}
