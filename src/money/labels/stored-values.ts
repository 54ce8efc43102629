import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import { dayMs, hourMs } from "#lib/time/days.ts";
import { repeat } from "#lib/time/repeat.ts";
import type { Storage } from "#src/storage/storage.ts";
import { otherValue } from "../model/charges/labels.ts";
import type { UsedValue } from "./day-values.ts";

/** Values that one core keeps become known to the others within this time. */
const learnMs = 30_000;
const cleanMs = 600_000;
/** More than a core remembers are not read. */
const mostRead = 250_000;
/** Sums removed at once: few, since settlements wait for SQLite's only writer. */
const removeSize = 500;

interface Dependencies {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly labels: { learn(values: readonly UsedValue[]): void };
  readonly keepDays: number;
}

/** The values stored in an hour or later, of all cores, without what could not be kept: that takes no value's place. */
export async function readValues(storage: Storage, fromHour: number): Promise<UsedValue[]> {
  const snapshot = await storage.snapshot();
  try {
    const values: UsedValue[] = [];
    const sql = `select distinct account_id, name, value from usage_label where hour >= ? and value <> ? limit ${mostRead}`;
    for await (const rows of snapshot.rows(sql, [fromHour, otherValue])) {
      for (const { account_id, name, value } of rows) {
        values.push({ accountId: String(account_id), name: String(name), value: String(value) });
      }
    }
    return values;
  } finally {
    await snapshot.close();
  }
}

/** Removes the sums of hours before one, some at a time. Returns how many. */
export async function removeSums(storage: Storage, beforeHour: number): Promise<number> {
  const row = storage.dialect === "sqlite" ? "rowid" : "ctid";
  const old = `select ${row} from usage_label where hour < ? limit ${removeSize}`;
  const { affectedRows = 0 } = await storage.orm.em
    .fork()
    .execute<{ affectedRows?: number }>(`delete from usage_label where ${row} in (${old})`, [beforeHour], "run");
  return affectedRows;
}

/**
 * Reads what was stored before the start and what other cores store, and removes the sums whose time is over. A SQLite
 * file has no other core: it is read once. Returns the function that ends it.
 */
export function attendLabels({ storage, clock, logger, labels, keepDays }: Dependencies): () => void {
  const isAlone = storage.dialect === "sqlite";
  let hasRead = false;
  let readFrom = 0; // all of today, once
  const learn = async () => {
    if (isAlone && hasRead) {
      return;
    }
    const hour = Math.floor(clock.now() / hourMs);
    const today = Math.floor(hour / 24) * 24;
    const values = await readValues(storage, Math.max(today, readFrom));
    if (clock.now() < (today + 24) * hourMs) {
      labels.learn(values); // else they are yesterday's by now
    }
    readFrom = hour - 1;
    hasRead = true;
  };
  const clean = async () => {
    const before = (Math.floor(clock.now() / dayMs) - keepDays) * 24;
    while ((await removeSums(storage, before)) > 0) {}
  };
  const jobs = [
    repeat(clock, learnMs, logger, "read the values of labels", learn, 0),
    repeat(clock, cleanMs, logger, "remove old sums of labels", clean),
  ];
  return () => {
    for (const stop of jobs) {
      stop();
    }
  };
}
