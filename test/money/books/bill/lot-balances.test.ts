import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { systemRandom } from "#lib/ids/random.ts";
import { type Clock, systemClock } from "#lib/time/clock.ts";
import { dayMs } from "#lib/time/days.ts";
import { expireLots } from "#src/money/books/expiry.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { Sealer } from "#src/money/books/seals/sealer.ts";
import { setOwnPrices } from "#src/money/prices/own-prices.ts";
import { ReadReceipts } from "#src/money/retention/archived-receipts.ts";
import { archiveFolder } from "#src/money/retention/folder.ts";
import { ArchiveReader } from "#src/money/retention/read-archive.ts";
import { Retention } from "#src/money/retention/retention.ts";
import { Usage } from "#src/storage/entities/metering/usage.ts";
import { movableClock } from "../../../storage/movable-clock.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { silentLogger } from "../../../support/loggers.ts";
import { runHere } from "../../../support/run-here.ts";
import { databases, dialects } from "../../databases.ts";
import { never, openMetering, request, testModel, usd } from "../../fixture.ts";
import { askPython } from "./page-python.ts";
import { expectBooks, lotsOf, proveStatement } from "./prove-statement.ts";

// What statements say that each credit has, beside the books.

const newDatabase = databases();
const directory = mkdtempSync(join(tmpdir(), "tollgate-lots-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Tokens that cost 0.25 USD at the first price. */
const unit = 1_000_000;
const days = 4;

/** Numbers from 0 up to but not including one, the same in each run with a seed. */
function numbers(seed: number) {
  let state = seed;
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Opens the books at moments, on one database. */
async function openAt(dialect: (typeof dialects)[number]) {
  const url = await newDatabase(dialect);
  const turn = dialect === "postgresql" ? await movableClock(url) : async () => {};
  const coreId = v7();
  return async (at: number) => {
    await turn(at - Date.now());
    const clock = new ManualClock(at);
    return { clock, ...(await openMetering({ clock, url, coreId })) };
  };
}

type Opened = Awaited<ReturnType<Awaited<ReturnType<typeof openAt>>>>;

async function unlessRefused(run: Promise<unknown>): Promise<void> {
  await run.catch((error: unknown) => {
    expect([Reason.BALANCE_EXHAUSTED, Reason.REFUND_EXCEEDS_BALANCE]).toContain(readDetail(error)?.reason);
  });
}

/** What may happen to an account, by chance. */
async function live({ clock, ...metering }: Opened, accountId: string, pick: (below: number) => number) {
  const { funds, ledger, prices, storage, time } = metering;
  const undone: { amount: number; undoes: string }[] = [];
  const credit = (kind: "paid" | "grant" | "free", amount: number, more = {}) =>
    funds.credit({ accountId, kind, amount, reference: v7(), ...more });
  const charge = async () => {
    const outputTokens = 1 + pick(6 * unit);
    const held = await ledger.hold(request(accountId, { inputTokens: pick(1000), outputTokens }), never);
    // Once in a while the engine passes its cap.
    const passed = pick(4) === 0 ? pick(4 * unit) : 0;
    await held.settle({ inputTokens: 10, outputTokens: held.outputTokens + passed }, "completed");
  };
  const acts: (() => Promise<unknown>)[] = [
    ...[charge, charge, charge, charge],
    () => credit("paid", usd),
    () => credit("paid", usd + pick(usd)),
    () => credit(pick(2) === 0 ? "free" : "grant", 1 + pick(usd)),
    () => credit("grant", 1 + pick(usd), { expiresAt: new Date(time.now() + 1000 + pick(dayMs)) }),
    async () => {
      const refund = { amount: 1 + pick(3 * usd), reference: v7() };
      await funds.refund({ accountId, ...refund, intoDebt: pick(2) === 0 });
      undone.push({ amount: refund.amount, undoes: refund.reference });
    },
    async () => {
      const refund = undone.pop();
      await (refund && credit("paid", refund.amount, { undoes: refund.undoes }));
    },
    () => funds.setCreditLine(accountId, pick(3) * usd),
    () => prices.set(testModel, { input: 100_000 + pick(200_000), output: 200_000 + pick(200_000) }),
    () => {
      const terms = { discount: pick(3) * 500, fixed: new Map() };
      return setOwnPrices({ storage, clock: time, random: systemRandom }, { accountId, terms }, async () => {});
    },
    () => expireLots({ storage, clock: time, random: systemRandom }),
  ];
  for (let step = 0; step < 25; step++) {
    await clock.until(unlessRefused((acts[pick(acts.length)] as () => Promise<unknown>)()));
    await clock.pass(1 + pick(2000));
  }
}

async function archiveAll({ storage, store, clock }: Opened, place: ReturnType<typeof archiveFolder>) {
  await store.markSeen(await store.unseenTallies(1000));
  while ((await store.foldTallies(Math.floor(clock.now() / 3_600_000) + 1)) > 0) {}
  const inRealTime: Clock = { ...systemClock, now: () => clock.now(), monotonic: () => performance.now() };
  const sealer = new Sealer({ storage, clock: inRealTime, random: systemRandom, logger: silentLogger });
  const retention = new Retention({
    ...{ storage, store, sealer, keepDays: 0, place, clock: { ...inRealTime, agrees: true }, logger: silentLogger },
    note: async () => {},
    lease: { hold: async () => true, release: async () => {} },
    observer: { removed: () => {}, looked: () => {} },
  });
  await retention.work();
}

describe.each(dialects)("%s", (dialect) => {
  /** What happened in the lives, by kind of line, and what credits the days began with. */
  const seen = new Set<string>();
  const noteSeen = (whole: readonly string[], parts: readonly (readonly string[])[]) => {
    for (const { kind, lots = [] } of whole.map((line) => JSON.parse(line))) {
      seen.add(kind === "refund" && lots.length > 1 ? "refund of several credits" : kind);
    }
    for (const { kind = "owed" } of parts.flatMap(([, opening]) => JSON.parse(opening ?? "").lots)) {
      seen.add(`begins with: ${kind}`);
    }
  };

  test.each([6, 8, 11])(
    "life %s: whatever happens to credits, each day begins with what the one before left",
    async (seed) => {
      const pick = numbers(seed);
      const open = await openAt(dialect);
      const first = (Math.floor(Date.now() / dayMs) + 1) * dayMs;
      let accountId = "";
      for (let day = 0; day < days; day++) {
        const opened = await open(first + day * dayMs + 3_600_000);
        accountId ||= await opened.account({ free: usd / 10, paid: 2 * usd });
        await live(opened, accountId, pick);
        await opened.clock.until(opened.close());
      }
      const at = first + days * dayMs + 7_200_000;
      const opened = await open(at);
      const { storage, clock } = opened;
      expect(await reconcile(storage)).toMatchObject({ findings: [] });

      const readAll = async (archives?: ReadReceipts) => {
        const read = (from: number, to: number) =>
          proveStatement(storage, accountId, { from, to, now: at, ...(archives && { archives }) });
        const whole = await read(first, first + (days + 1) * dayMs);
        const parts: string[][] = [];
        for (let day = 0; day <= days; day++) {
          parts.push(await read(first + day * dayMs, first + (day + 1) * dayMs));
        }
        return [whole, ...parts];
      };
      const [whole = [], ...parts] = await readAll();
      noteSeen(whole, parts);
      await expectBooks(storage, accountId, whole.at(-1));
      for (const [day, lines] of parts.entries()) {
        expect(lotsOf(lines[1])).toEqual(day === 0 ? {} : lotsOf(parts[day - 1]?.at(-1)));
      }
      expect(lotsOf(parts.at(-1)?.at(-1))).toEqual(lotsOf(whole.at(-1)));
      for (const [day, lines] of [whole, ...parts].entries()) {
        const file = join(directory, `${dialect}-${seed}-${day}.jsonl`);
        writeFileSync(file, lines.map((line) => `${line}\n`).join(""));
        expect({ day, ...(await askPython(file)) }).toMatchObject({ code: 0 });
      }

      // The same from the seals of days whose receipts have left.
      const place = archiveFolder(join(directory, `${dialect}-${seed}`), systemRandom);
      await archiveAll(opened, place);
      expect(await storage.orm.em.fork().count(Usage, { accountId })).toBe(0);
      const archived = await readAll(new ReadReceipts(storage, new ArchiveReader(place)));
      const unsealed = archived.map((lines) => lines.filter((line) => !line.startsWith('{"kind":"seal"')));
      expect(unsealed).toEqual([whole, ...parts]);
      await clock.until(opened.close());
    },
  );

  test("all of that happened", () => {
    const all = ["topup", "grant", "refund of several credits", "lapse", "repayment", "charge"];
    const begun = ["topup", "grant", "line", "owed"].map((kind) => `begins with: ${kind}`);
    expect([...all, ...begun].filter((one) => !seen.has(one))).toEqual([]);
  });

  test("a charge that is dated before its credit came in has it below zero until then", async () => {
    const open = await openAt(dialect);
    const midnight = (Math.floor(Date.now() / dayMs) + 1) * dayMs;
    const opened = await open(midnight - 60_000);
    const { clock, funds, ledger, storage } = opened;
    const accountId = await opened.account({ paid: usd });
    const budget = { id: v7(), limit: 9 * usd, period: "day" as const };
    const hold = ledger.hold(request(accountId, { inputTokens: 0, outputTokens: unit }, { budget }), never);
    const held = await clock.until(hold);
    await clock.advanceAsync(120_000);
    const { lotId } = await clock.until(funds.credit({ accountId, kind: "paid", amount: 5 * usd, reference: v7() }));
    // It counts on the day of its budget, which is over.
    await clock.until(held.settle({ inputTokens: 0, outputTokens: 6 * unit }, "completed"));
    await clock.pass(1000);

    const span = { now: clock.now() };
    const before = await proveStatement(storage, accountId, { ...span, from: midnight - dayMs, to: midnight });
    expect(lotsOf(before.at(-1))).toEqual({ [lotId]: "-0.50" });
    const after = await proveStatement(storage, accountId, { ...span, from: midnight, to: midnight + dayMs });
    expect(lotsOf(after[1])).toEqual({ [lotId]: "-0.50" });
    expect(lotsOf(after.at(-1))).toEqual({ [lotId]: "4.50" });
    const both = await proveStatement(storage, accountId, { ...span, from: midnight - dayMs, to: midnight + dayMs });
    await expectBooks(storage, accountId, both.at(-1));
    for (const [at, lines] of [before, after, both].entries()) {
      const file = join(directory, `${dialect}-dated-${at}.jsonl`);
      writeFileSync(file, lines.map((line) => `${line}\n`).join(""));
      expect({ at, ...(await askPython(file)) }).toMatchObject({ code: 0 });
    }
    await clock.until(opened.close());
  });

  test("days before there was an account are not looked at", async () => {
    const open = await openAt(dialect);
    const { clock, close, account, storage } = await open(Date.now());
    const accountId = await account({ free: usd });
    const day = clock.now() - (clock.now() % dayMs);
    const now = clock.now();
    const all = await proveStatement(storage, accountId, { from: 0, to: day + dayMs, now });
    expect(all.map((line) => JSON.parse(line).kind)).toEqual(["account", "opening", "grant", "closing"]);
    const before = await proveStatement(storage, accountId, { from: day - 2 * dayMs, to: day - dayMs, now });
    expect(before.map((line) => JSON.parse(line).kind)).toEqual(["account", "opening", "closing"]);
    await clock.until(close());
  });

  test("no line has more than a hundred credits, and one that is missing or other is found", async () => {
    const open = await openAt(dialect);
    const midnight = (Math.floor(Date.now() / dayMs) + 1) * dayMs;
    const first = await open(midnight - 3_600_000);
    const accountId = await first.account();
    for (let at = 0; at < 250; at++) {
      const credit = { accountId, kind: "grant" as const, amount: 1 + at, reference: v7() };
      await first.clock.until(first.funds.credit(credit));
    }
    await first.clock.until(first.close());

    const { clock, storage, close } = await open(midnight + 3_600_000);
    const span = { from: midnight, to: midnight + dayMs, now: clock.now() };
    const lines = await proveStatement(storage, accountId, span);
    const rows = lines.map((line) => JSON.parse(line));
    expect(rows.map(({ kind, lots = [] }) => `${kind} ${lots.length}`)).toEqual([
      ...["account 0", "opening 100", "lots 100", "lots 50", "lots 100", "lots 100", "closing 50"],
    ]);
    expect(rows[1]).toMatchObject({ lot_count: 250, lots: { 99: { balance: "0.0000000001", kind: "grant" } } });

    const file = join(directory, `${dialect}-many.jsonl`);
    const check = async (changed: readonly object[]) => {
      writeFileSync(file, changed.map((row) => `${JSON.stringify(row)}\n`).join(""));
      const [verified, asked] = [await runHere(["verify", file], {}), await askPython(file)];
      return [verified.notes, asked.code === 0 ? "" : asked.text].map((text) => /^line \d+/.exec(text)?.[0] ?? text);
    };
    const changed = (at: number, balance: string) => {
      const { lots, ...row } = rows[at];
      return rows.with(at, { ...row, lots: [{ ...lots[0], balance }, ...lots.slice(1)] });
    };
    expect(await check(rows)).toEqual(["", ""]);
    expect(await check(changed(2, "1.00"))).toEqual(["line 4", "line 4"]); // the opening adds up on its last line alone
    expect(await check(changed(5, "1.00"))).toEqual(["line 6", "line 6"]);
    expect(await check(rows.toSpliced(3, 1))).toEqual(["line 4", "line 4"]);
    expect(await check(rows.toSpliced(5, 1))).toEqual(["line 6", "line 6"]);
    expect(await check(rows.toSpliced(2, 0, rows[2]))).toEqual(["line 4", "line 4"]);
    await clock.until(close());
  });
});
