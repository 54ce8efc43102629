import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { afterAll, expect } from "@jest/globals";
import { v7 } from "uuid";
import { StreamUsageRequestSchema, UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { systemRandom } from "#lib/ids/random.ts";
import { systemClock } from "#lib/time/clock.ts";
import { dayMs } from "#lib/time/days.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { streamUsage } from "#src/money/books/receipts/usage.ts";
import { Sealer } from "#src/money/books/seals/sealer.ts";
import { archiveFolder } from "#src/money/retention/folder.ts";
import { type Dependencies, Retention } from "#src/money/retention/retention.ts";
import type { ReceiptArchive } from "#src/storage/entities/metering/archive.ts";
import type { Storage } from "#src/storage/storage.ts";
import { movableClock } from "../../storage/movable-clock.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { silentLogger } from "../../support/loggers.ts";
import { type Dialect, databases } from "../databases.ts";
import { openMetering, request, run, usd } from "../fixture.ts";
import { storeKey } from "../stored-key.ts";

const output = (outputTokens: number) => ({ inputTokens: 10, outputTokens });

/**
 * Starts what the tests of a file need; the function makes books with seven receipts of a day, of two lots and a key's budget,
 * and three of the next day.
 */
export function settledDays() {
  const newDatabase = databases();
  const directories: string[] = [];
  afterAll(() => {
    for (const directory of directories) {
      rmSync(directory, { recursive: true, force: true });
    }
  });
  return async (dialect: Dialect) => {
    const url = await newDatabase(dialect);
    const midnight = Math.ceil(Date.now() / dayMs) * dayMs;
    const turn = dialect === "postgresql" ? await movableClock(url) : async () => {};
    /** Sets the time of the database. */
    const setTime = (at: number) => turn(at - Date.now());
    await setTime(midnight - 20_000);
    const clock = new ManualClock(midnight - 20_000);
    const metering = await openMetering({ clock, url });
    const { ledger, storage, store } = metering;
    const account = await metering.account({ free: 3_000_000_000, paid: 10 * usd });
    const keyId = await storeKey(metering, account);
    const budget = { id: keyId, limit: usd, period: "total" } as const;
    const ids: string[] = [];
    const charge = async (tokens: number, more: object = {}) => {
      const requestId = `req_${v7({ msecs: clock.now() }).replaceAll("-", "")}`;
      const wanted = request(account, output(tokens), { requestId, ...more });
      ids.push(wanted.requestId);
      await clock.until(run(ledger, wanted));
    };
    for (let at = 0; at < 7; at++) {
      const labels = at % 3 === 0 ? { labels: '{"app":"an \\"é\\""}' } : {};
      await charge(1000 + 700 * at, { ...labels, ...(at % 2 === 0 ? { keyId, budget } : {}) });
    }
    await clock.pass(25_000);
    for (let at = 0; at < 3; at++) {
      await charge(100, { keyId, budget });
    }
    await store.markSeen(await store.unseenTallies(100));
    await store.foldTallies(midnight / 3_600_000);
    const directory = mkdtempSync(join(tmpdir(), "tollgate-archive-"));
    directories.push(directory);
    const removed: number[] = [];
    const looks: (readonly [number, number])[] = [];
    const noted: ReceiptArchive[] = [];
    /** An hour after midnight. No step takes time: the rests between them would be as long as the proofs of the books. */
    const time = { ...systemClock, now: () => midnight + 3_600_000, monotonic: () => 0, agrees: true };
    const retention = (more: Partial<Dependencies> = {}) =>
      new Retention({
        ...{ storage, store, keepDays: 0, clock: time, logger: silentLogger },
        place: archiveFolder(directory, systemRandom),
        sealer: new Sealer({ storage, clock: time, random: systemRandom, logger: silentLogger }),
        note: async (_, archive) => void noted.push(archive),
        lease: { hold: async () => true, release: async () => {} },
        observer: {
          removed: (count) => void removed.push(count),
          looked: (keptFrom, overdueMs) => void looks.push([keptFrom, overdueMs]),
        },
        ...more,
      });
    const settledOn = midnight - 1;
    return {
      ...{ ...metering, url, setTime },
      clock,
      account,
      budget,
      ids,
      midnight,
      settledOn,
      directory,
      removed,
      looks,
      noted,
      retention,
    };
  };
}

/** Proves the books. */
export async function prove(storage: Storage): Promise<void> {
  expect(await reconcile(storage)).toMatchObject({ ok: true, findings: [] });
}

/** The usage of each account and day, of a time or of all. */
export async function usageOf(storage: Storage, span: object = {}) {
  const rows = [];
  const asked = { groupBy: [UsageGroup.ACCOUNT, UsageGroup.DAY], ...span };
  for await (const page of streamUsage(storage, create(StreamUsageRequestSchema, asked))) {
    rows.push(...page.rows);
  }
  return rows;
}
