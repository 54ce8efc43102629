import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { StreamStatementRequestSchema } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { formatUsd } from "#lib/money/money.ts";
import { dayMs } from "#lib/time/days.ts";
import { StatementCheck } from "#src/money/books/bill/check/check-statement.ts";
import { DayProofs } from "#src/money/books/bill/day-proofs.ts";
import { readMonths } from "#src/money/books/bill/months.ts";
import { streamStatement } from "#src/money/books/bill/stream-statement.ts";
import { movableClock } from "../../../storage/movable-clock.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { databases, dialects } from "../../databases.ts";
import { openMetering, request, run, testModel, usd } from "../../fixture.ts";
import { noArchives } from "../../no-archives.ts";

const newDatabase = databases();

/** The middle of the UTC month after this one. */
function midMonth(): number {
  const now = new Date();
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 15, 12);
}

describe.each(dialects)("%s", (dialect) => {
  test("a month sums up what came in, what was used on credit, and what is owed at its end", async () => {
    const url = await newDatabase(dialect);
    const middle = midMonth();
    await (dialect === "postgresql" && (await movableClock(url))(middle - Date.now()));
    const clock = new ManualClock(middle);
    const metering = await openMetering({ url, clock });
    const { storage, funds, ledger } = metering;
    const accountId = await metering.account({ free: usd / 4 });
    await clock.until(funds.credit({ accountId, kind: "paid", amount: usd, reference: v7() }));
    await clock.until(funds.setCreditLine(accountId, 10 * usd));
    // 8 million tokens cost 2 USD: what came in pays 1.25 of it.
    await clock.until(run(ledger, request(accountId, { inputTokens: 0, outputTokens: 8_000_000 })));
    await clock.pass(1000);
    const ask = (month: string, now: number) => readMonths(storage, { accountId, month, now });

    const { months } = await ask("", clock.now());
    const [month] = months;
    expect(months).toHaveLength(1);
    expect(month).toMatchObject({
      ...{ month: new Date(middle).toISOString().slice(0, 7), isOver: false, openingPicoUsd: "0" },
      ...{ topupsPicoUsd: String(usd), grantsPicoUsd: String(usd / 4), chargedPicoUsd: String(2 * usd) },
      ...{ refundsPicoUsd: "0", lapsedPicoUsd: "0", closingPicoUsd: String(-0.75 * usd) },
      models: [{ model: testModel, requests: 1n, outputTokens: 8_000_000n, costPicoUsd: String(2 * usd) }],
    });
    expect(month?.owedPicoUsd).toBe(String(0.75 * usd));
    const later = await ask("", middle + 31 * dayMs);
    expect(later.months.map(({ isOver }) => isOver)).toEqual([false, true]);
    expect(later.months[1]).toMatchObject({ closingPicoUsd: month?.closingPicoUsd });
    expect(later.months[0]).toMatchObject({ openingPicoUsd: month?.closingPicoUsd, chargedPicoUsd: "0", models: [] });
    expect((await ask(month?.month ?? "", middle + 31 * dayMs)).months).toEqual([later.months[1]]);
    await clock.until(funds.credit({ accountId, kind: "grant", amount: usd / 2, reference: v7() }));
    await clock.pass(1000);
    for (const now of [clock.now(), middle + 31 * dayMs]) {
      const [given] = (await ask(month?.month ?? "", now)).months; // a gift is spent on requests, and pays nothing that is owed
      expect(given).toMatchObject({ closingPicoUsd: String(-0.25 * usd), owedPicoUsd: String(0.75 * usd) });
    }
    await expect(ask("9999-01", clock.now()).catch((error) => readDetail(error)?.reason)).resolves.toBe(
      Reason.INVALID_ARGUMENT,
    );

    // The statement of the same days ends below zero, and proves.
    const check = new StatementCheck();
    const day = Math.floor(middle / dayMs) * dayMs;
    const asked = { accountId, from: timestampFromMs(day), to: timestampFromMs(day + dayMs) };
    const parts = { storage, archives: noArchives, proofs: new DayProofs(storage), now: clock.now() };
    for await (const lines of streamStatement(parts, create(StreamStatementRequestSchema, asked))) {
      for (const line of lines) {
        check.add(line);
      }
    }
    expect(check.finish()).toContain(`closing ${formatUsd(BigInt(-0.25 * usd))} USD`);
    await clock.until(metering.close());
  });
});

test("a gift that another core had while the credit line was drawn does not make less what is owed", async () => {
  const url = await newDatabase("postgresql");
  const clock = new ManualClock(Date.now());
  const [first, second] = [await openMetering({ url, clock }), await openMetering({ url, clock })];
  const accountId = await first.account({ free: usd / 4 });
  await clock.pass(1000);
  await clock.until(first.funds.setCreditLine(accountId, 10 * usd));
  const { signal } = new AbortController();
  const all = request(accountId, { inputTokens: 0, outputTokens: 1_000_000 });
  const held = await clock.until(first.ledger.hold(all, signal));
  await clock.until(run(second.ledger, request(accountId, { inputTokens: 0, outputTokens: 2_000_000 })));
  held.release();
  await clock.pass(1000);
  const { months } = await readMonths(first.storage, { accountId, month: "", now: clock.now() });
  expect(months[0]).toMatchObject({ closingPicoUsd: String(-0.25 * usd), owedPicoUsd: String(0.5 * usd) });
  await clock.until(Promise.all([first.close(), second.close()]));
});
