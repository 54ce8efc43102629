import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { v7 } from "uuid";
import { StreamStatementRequestSchema } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { systemRandom } from "#lib/ids/random.ts";
import { type Clock, systemClock } from "#lib/time/clock.ts";
import { dayMs } from "#lib/time/days.ts";
import { DayProofs } from "#src/money/books/bill/day-proofs.ts";
import { streamStatement } from "#src/money/books/bill/stream-statement.ts";
import { expireLots } from "#src/money/books/expiry.ts";
import type { ArchivedReceipts } from "#src/money/books/receipts/archived-receipts.ts";
import { Sealer } from "#src/money/books/seals/sealer.ts";
import { setOwnPrices } from "#src/money/prices/own-prices.ts";
import { movableClock } from "../../../storage/movable-clock.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { silentLogger } from "../../../support/loggers.ts";
import type { databases, dialects } from "../../databases.ts";
import { openMetering, request, run, testModel, usd } from "../../fixture.ts";
import { noArchives } from "../../no-archives.ts";

/**
 * Books of two days that are over, and of the first hours of the third. An account has a gift, payments at two prices,
 * the second one at its own, a grant that lapses, a refund and a debt; five others have a charge a day, and the last of
 * them two payments at one price.
 */
export async function openStatementBooks(
  newDatabase: ReturnType<typeof databases>,
  dialect: (typeof dialects)[number],
) {
  const url = await newDatabase(dialect);
  const midnight = Math.ceil(Date.now() / dayMs) * dayMs;
  const turn = dialect === "postgresql" ? await movableClock(url) : async () => {};
  const coreId = v7();
  const openAt = async (at: number) => {
    await turn(at - Date.now());
    const clock = new ManualClock(at);
    return { clock, metering: await openMetering({ clock, url, coreId }) };
  };
  const pay = (accountId: string) => ({ accountId, kind: "paid", amount: 5 * usd, reference: v7() }) as const;

  const first = await openAt(midnight - 2 * dayMs + 3_600_000);
  const { funds, prices } = first.metering;
  // After the gift's 24 output tokens 130,000 pico-USD of it are left: the payment pays the rest of the 25th.
  const account = await first.metering.account({ free: 10_130_000 });
  const others = await Promise.all([1, 2, 3, 4].map(() => first.metering.account({ paid: usd })));
  await prices.set(testModel, { input: 220_000, output: 275_000 });
  await first.clock.until(funds.credit(pay(account)));
  const twice = await first.metering.account({ paid: usd });
  await first.clock.until(funds.credit(pay(twice)));
  others.push(twice);
  const charge = async ({ clock, metering }: typeof first, of: string, outputTokens: number) => {
    await clock.pass(1000);
    await clock.until(run(metering.ledger, request(of, { inputTokens: 20, outputTokens })));
  };
  for (const tokens of [40, 50, 60]) {
    await charge(first, account, tokens);
  }
  for (const other of others) {
    await charge(first, other, 10);
  }
  await first.clock.until(first.metering.close());

  const second = await openAt(midnight - dayMs + 3_600_000);
  const lapsing = { expiresAt: new Date(midnight - dayMs + 7_200_000), reference: v7() };
  await second.clock.until(
    second.metering.funds.credit({ accountId: account, kind: "grant", amount: usd / 100, ...lapsing }),
  );
  for (const tokens of [10, 20]) {
    await charge(second, account, tokens);
  }
  for (const other of others) {
    await charge(second, other, 20);
  }
  await second.clock.until(second.metering.close());

  const late = await openAt(midnight - dayMs + 10_800_000);
  await late.clock.until(
    expireLots({ storage: late.metering.storage, clock: late.metering.time, random: systemRandom }),
  );
  const refund = { accountId: account, amount: 5 * usd, reference: v7(), intoDebt: true };
  await late.clock.until(late.metering.funds.refund(refund));
  await late.clock.pass(1000);
  const parts = { storage: late.metering.storage, clock: late.metering.time, random: systemRandom };
  const terms = { discount: 1000, fixed: new Map() };
  await late.clock.until(setOwnPrices(parts, { accountId: account, terms }, async () => {}));
  await late.clock.until(late.metering.funds.credit(pay(account)));
  await charge(late, account, 30);
  await late.clock.until(late.metering.close());

  const { clock, metering } = await openAt(midnight + 7_200_000);
  await charge({ clock, metering }, account, 5);
  const { storage, store } = metering;
  await store.markSeen(await store.unseenTallies(1000));
  while ((await store.foldTallies(Math.floor(clock.now() / 3_600_000) + 1)) > 0) {}
  const inRealTime: Clock = { ...systemClock, now: () => clock.now(), monotonic: () => performance.now() };
  const sealer = new Sealer({ storage, clock: inRealTime, random: systemRandom, logger: silentLogger });

  /** The lines of a statement of the two days, or of others. */
  const statement = async (
    span: { from?: number; to?: number; of?: string } = {},
    archives: Pick<ArchivedReceipts, "listOldestFirst"> = noArchives,
  ): Promise<string[]> => {
    const { from = midnight - 2 * dayMs, to = midnight, of = account } = span;
    const asked = { accountId: of, from: timestampFromMs(from), to: timestampFromMs(to) };
    const lines: string[] = [];
    const parts = { storage, archives, proofs: new DayProofs(storage), now: clock.now() };
    for await (const piece of streamStatement(parts, create(StreamStatementRequestSchema, asked))) {
      lines.push(...piece);
    }
    return lines;
  };
  return { ...metering, url, clock, inRealTime, account, others, midnight, sealer, statement, refund };
}
