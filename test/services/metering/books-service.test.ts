import { createClient } from "@connectrpc/connect";
import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { BooksService, BooksSum } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { readAll } from "#lib/rpc/pages.ts";
import type { Charge } from "#src/money/model/charges/charge.ts";
import { createBooksService } from "#src/services/metering/books-service.ts";
import { Account } from "#src/storage/entities/account.ts";
import { createDirectTransport } from "#src/wire/grpc/direct/direct-transport.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { databases, dialects } from "../../money/databases.ts";
import { openMetering, testModel, usd } from "../../money/fixture.ts";
import { noArchives } from "../../money/no-archives.ts";
import { silentObserver } from "../../money/silent-observer.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { eventually } from "../../support/eventually.ts";
import { silentLogger } from "../../support/loggers.ts";

const newDatabase = databases();

/** A charge of an account that is not there. */
const lostCharge = (): Charge => ({
  ...{ requestId: v7(), runId: v7(), accountId: v7(), keyId: "", model: testModel, inputTokens: 10, outputTokens: 10 },
  ...{ cost: 0, shortfall: 0, status: "completed", settledAt: Date.UTC(2026, 4, 1), lines: [] },
});

/** The books of a database, and their service. */
async function open(url: string) {
  const clock = new ManualClock(Date.UTC(2026, 4, 1));
  const metering = await openMetering({ clock, url });
  const { storage, ledger, deadLetters } = metering;
  const parts = { archives: noArchives, observer: silentObserver, clock, logger: silentLogger };
  const books = createBooksService({ storage, ledger, deadLetters, ...parts });
  const service = createClient(BooksService, createDirectTransport([registration(BooksService, books)], []));
  return { clock, metering, service };
}

describe.each(dialects)("%s", (dialect) => {
  test("the books are proved, and dead letters are listed page by page and dropped", async () => {
    const { clock, metering, service } = await open(await newDatabase(dialect));
    const { deadLetters } = metering;
    expect(await service.reconcile({})).toMatchObject({ ok: true, findings: [] });
    for (let each = 0; each < 3; each++) {
      await deadLetters.put(lostCharge(), "it cannot be charged");
    }
    const first = await service.listDeadLetters({ pageSize: 2 });
    const second = await service.listDeadLetters({ pageSize: 2, pageToken: first.nextPageToken });
    expect([first.deadLetters.length, second.deadLetters.length, second.nextPageToken]).toEqual([2, 1, ""]);
    const [gone, stays] = first.deadLetters.map(({ id }) => id) as [string, string];
    await service.dropDeadLetter({ deadLetterId: gone });
    const dropped = await service.dropDeadLetter({ deadLetterId: gone }).catch((error: unknown) => readDetail(error));
    expect(dropped).toMatchObject({ reason: Reason.RECEIPT_NOT_FOUND, parameter: "dead_letter_id" });
    await expect(service.settleDeadLetter({ deadLetterId: stays })).rejects.toThrow("There is no account");
    const left = await service.listDeadLetters({});
    expect(left.deadLetters.map(({ id }) => id)).toEqual([stays, ...second.deadLetters.map(({ id }) => id)]);
    await clock.until(metering.close());
  });

  test("a proof whose caller leaves is not carried on", async () => {
    const { clock, metering, service } = await open(await newDatabase(dialect));
    const { storage } = metering;
    const { snapshot } = storage;
    const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let [asked, closed] = [0, 0];
    const holding: typeof snapshot = async (reach) => {
      asked++;
      begun.resolve();
      await held.promise;
      const opened = await snapshot(reach);
      return { ...opened, close: () => opened.close().then(() => void closed++) };
    };
    Object.assign(storage, { snapshot: holding });
    const caller = new AbortController();
    const steps = service.streamReconcile({ all: true }, { signal: caller.signal })[Symbol.asyncIterator]();
    await steps.next();
    await begun.promise;
    caller.abort();
    held.resolve();
    await eventually("the first part is read", () => closed > 0);
    for (let turns = 0; turns < 10; turns++) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(asked).toBe(1);
    Object.assign(storage, { snapshot });
    await clock.until(metering.close());
  });

  test("the sums of the proof open their addends, account by account and page by page", async () => {
    const { clock, metering, service } = await open(await newDatabase(dialect));
    const { storage, funds } = metering;
    const [one, other, owing] = [
      await metering.account({ paid: 5 * usd, free: 7 }),
      await metering.account({ paid: 3 * usd }),
      await metering.account(),
    ];
    await metering.account();
    await clock.until(funds.refund({ accountId: other, amount: usd, reference: v7() }));
    await storage.orm.em.fork().nativeUpdate(Account, owing, { debt: 10n ** 18n + 1n });
    const addends = async (sum: BooksSum, pageSize = 1) => {
      const listed = await readAll(
        (page) => service.listAddends({ sum, ...page, pageSize }),
        (answer) => answer.addends,
      );
      return listed.map(({ accountId, amountPicoUsd }) => [accountId, amountPicoUsd]);
    };
    const proof = await service.reconcile({});
    const granted = await addends(BooksSum.GRANTED);
    expect(granted).toEqual([
      [one, String(5 * usd + 7)],
      [other, String(3 * usd)],
    ]);
    expect(granted.reduce((sum, [, amount]) => sum + BigInt(amount ?? 0), 0n)).toBe(BigInt(proof.grantedPicoUsd));
    expect(await addends(BooksSum.REFUNDED)).toEqual([[other, proof.refundedPicoUsd]]);
    expect(await addends(BooksSum.EXPIRED)).toEqual([]);
    expect(await addends(BooksSum.DEBT)).toEqual([[owing, "1000000000000000001"]]);
    const refused = await service.listAddends({}).catch((error: unknown) => readDetail(error));
    expect(refused).toMatchObject({ reason: Reason.INVALID_ARGUMENT, parameter: "sum" });
    await clock.until(metering.close());
  });
});
