import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "@jest/globals";
import { StreamStatementRequestSchema } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { systemClock } from "#lib/time/clock.ts";
import { dayMs } from "#lib/time/days.ts";
import { DayProofs } from "#src/money/books/bill/day-proofs.ts";
import { streamStatement } from "#src/money/books/bill/stream-statement.ts";
import type { Storage } from "#src/storage/storage.ts";
import { databases, dialects } from "../../databases.ts";
import { openMetering, request, run, usd } from "../../fixture.ts";
import { noArchives } from "../../no-archives.ts";

const newDatabase = databases();
const charges = 450;
/** Receipts that are read at once, and lines of a piece of the answer. */
const pageSize = 100;

describe.each(dialects)("%s", (dialect) => {
  test("a statement reads a page of receipts when the lines of the one before are on their way, however many there are", async () => {
    const { ledger, storage, account, close } = await openMetering({
      ...{ clock: systemClock, url: await newDatabase(dialect) },
    });
    const id = await account({ paid: 100 * usd });
    for (let at = 0; at < charges; at += 50) {
      const some = Array.from({ length: 50 }, () => run(ledger, request(id, { inputTokens: 10, outputTokens: 10 })));
      await Promise.all(some);
    }
    let [read, passed, most] = [0, 0, 0];
    const counted: Storage = Object.assign(Object.create(storage) as Storage, {
      async snapshot(...reach: Parameters<Storage["snapshot"]>) {
        const snapshot = await storage.snapshot(...reach);
        const few: typeof snapshot.few = async (sql, parameters) => {
          const rows = await snapshot.few(sql, parameters);
          if (sql.startsWith("select * from usage ")) {
            read += rows.length;
            most = Math.max(most, read - passed);
          }
          return rows;
        };
        return { ...snapshot, few };
      },
    });
    const today = Math.floor(Date.now() / dayMs) * dayMs;
    const asked = create(StreamStatementRequestSchema, {
      ...{ accountId: id, from: timestampFromMs(today - dayMs), to: timestampFromMs(today + 2 * dayMs) },
    });
    const parts = { storage: counted, archives: noArchives, proofs: new DayProofs(storage), now: Date.now() };
    for await (const piece of streamStatement(parts, asked)) {
      expect(piece.length).toBeLessThanOrEqual(pageSize);
      passed += piece.filter((line) => line.startsWith('{"kind":"charge"')).length;
    }
    expect([read, passed]).toEqual([charges, charges]);
    expect(most).toBeLessThan(2 * pageSize);
    await close();
  }, 60_000);
});
