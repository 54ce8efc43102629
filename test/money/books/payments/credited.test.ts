import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { systemRandom } from "#lib/ids/random.ts";
import { expireLots } from "#src/money/books/expiry.ts";
import { movableClock } from "../../../storage/movable-clock.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { databases, dialects } from "../../databases.ts";
import { never, openMetering, request, usd } from "../../fixture.ts";

const newDatabase = databases();
/** What an output token costs. */
const out = 250_000;

describe.each(dialects)("%s", (dialect) => {
  test("what came in is payments and gifts less refunds and what has lapsed, whatever is charged", async () => {
    const url = await newDatabase(dialect);
    const turn = dialect === "sqlite" ? async () => {} : await movableClock(url);
    const clock = new ManualClock(Date.now());
    const metering = await openMetering({ clock, url });
    const { storage, time, funds, ledger } = metering;
    const accountId = await metering.account();
    const expiresAt = new Date(time.now() + 10_000);
    await funds.credit({ accountId, kind: "grant", amount: usd, reference: v7(), expiresAt });
    const hold = await ledger.hold(request(accountId, { inputTokens: 0, outputTokens: 100 }), never);
    await metering.account({ paid: usd });
    expect(await funds.credited(accountId)).toBe(BigInt(usd));

    await turn(12_000);
    await clock.pass(12_000);
    expect(await funds.credited(accountId)).toBe(BigInt(100 * out)); // told so before it is written off
    await expireLots({ storage, clock: time, random: systemRandom });
    expect(await funds.credited(accountId)).toBe(BigInt(100 * out));

    await clock.until(hold.settle({ inputTokens: 0, outputTokens: 60 }, "completed"));
    await clock.pass(2000);
    await turn(15_000);
    await expireLots({ storage, clock: time, random: systemRandom });
    expect(await funds.credited(accountId)).toBe(BigInt(60 * out));
    expect((await funds.statement(accountId)).balance).toBe(0n);
    await funds.credit({ accountId, kind: "paid", amount: 5 * usd, reference: v7() });
    await funds.refund({ accountId, amount: 2 * usd, reference: v7() });
    expect(await funds.credited(accountId)).toBe(BigInt(3 * usd + 60 * out));
    expect(await funds.credited(v7())).toBe(0n);
    await clock.until(metering.close());
  });
});
