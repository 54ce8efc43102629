import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { formatUsd, parseUsd } from "#lib/money/money.ts";
import { dayMs } from "#lib/time/days.ts";
import { runHere } from "../../../../support/run-here.ts";
import { databases, dialects } from "../../../databases.ts";
import { askPython } from "../page-python.ts";
import { openStatementBooks } from "../statement-books.ts";

const newDatabase = databases();
const directory = mkdtempSync(join(tmpdir(), "tollgate-verify-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

type Row = Record<string, never>;
type Change = (rows: Row[], charges: Row[], seals: Row[]) => void;

/** Changes a price, and the balances that follow from it, as somebody would who wants all sums to fit. */
function cheat(rows: Row[], charge: Record<string, unknown>, more: bigint): void {
  const [lot] = charge.lots as Record<string, string>[];
  const add = (usd: unknown, by: bigint) => {
    const pico = BigInt(String(usd).replace(/\.(\d*)$/, (_, digits) => digits.padEnd(12, "0"))) + by;
    const digits = String(pico < 0n ? -pico : pico).padStart(13, "0");
    return `${pico < 0n ? "-" : ""}${digits.slice(0, -12)}.${digits.slice(-12)}`;
  };
  const tokens = BigInt((lot as unknown as Record<string, number>).input_tokens ?? 0) * more;
  Object.assign(lot ?? {}, { input_price: add(lot?.input_price, more * 1_000_000n), cost: add(lot?.cost, tokens) });
  charge.cost = add(charge.cost, tokens);
  for (const row of rows.slice(rows.indexOf(charge as Row)) as Record<string, unknown>[]) {
    if (row.balance !== undefined) {
      row.balance = add(row.balance, -tokens);
    }
  }
}

const set = (row: Row | undefined, fields: object) => void Object.assign(row ?? {}, fields);
const take = (rows: Row[], row: Row | undefined) => void rows.splice(rows.indexOf(row as Row), 1);
const digits = "0".repeat(64);
const lotsOf = (row: Row | undefined) => (row?.lots ?? []) as Row[];
const lessBy = (usd: unknown, by: bigint) => formatUsd((parseUsd(String(usd)) ?? 0n) - by);

/** What somebody may do to a statement, and the line that does not fit any more: counted from 1, or from its end. */
const manipulations: Readonly<Record<string, readonly [Change, number]>> = {
  "a charge costs less": [(_, [charge]) => set(charge, { cost: "0.00" }), 5],
  "a rate is another": [(_, [, charge]) => set((charge?.lots as Row[] | undefined)?.[0], { input_price: "0.21" }), 6],
  "tokens are others": [(_, [, charge]) => set(charge, { completion_tokens: 49 }), 6],
  "one credit gives more of a token that two share, the other less": [
    (_, [charge]) => {
      const [first, second] = lotsOf(charge);
      set(first, { cost: lessBy(first?.cost, -1n) });
      set(second, { cost: lessBy(second?.cost, 1n) });
    },
    5,
  ],
  "a charge is left out": [(rows, [, charge]) => take(rows, charge), 6],
  "a charge is there twice": [(rows, [, charge]) => void rows.splice(6, 0, charge as Row), 7],
  "two charges changed places": [(rows, [, charge, next]) => void rows.splice(5, 2, next as Row, charge as Row), 6],
  "a charge names another model": [(_, [charge]) => set(charge, { model: "dearer" }), 8],
  "a rate is lower, and all sums fit": [(rows, [, , charge]) => cheat(rows, charge as Row, -1n), 8],
  "a rate is above the one that was locked in": [(rows, [, , charge]) => cheat(rows, charge as Row, 1n), 7],
  "a payment is larger": [(rows) => set(rows[3], { amount: "6.00" }), 4],
  "the opening balance is larger": [(rows) => set(rows[1], { balance: "1.00" }), 2],
  "the closing balance is larger": [(rows) => set(rows.at(-1), { balance: "1.00" }), -1],
  "the chain is broken": [(_rows, _charges, [, seal]) => set(seal, { before: digits }), -2],
  "a seal hides the account": [(_rows, _charges, [seal]) => set(seal, { digest: undefined }), 8],
  "a path leads elsewhere": [
    (_rows, _charges, [seal]) => set((seal?.path as Row[] | undefined)?.[0], { hash: digits }),
    8,
  ],
  "the end is cut off": [(rows) => void rows.pop(), 0],
};

const moveMoney = ([from, to]: Row[]) => {
  set(from, { balance: lessBy(from?.balance, 1n) });
  set(to, { balance: lessBy(to?.balance, -1n) });
};

/** The same for what credits have: of a day with two credits at one price, the first of which pays. Not sealed. */
const lotManipulations: Readonly<Record<string, readonly [Change, number]>> = {
  "a credit had more": [([, opening]) => set(lotsOf(opening)[0], { balance: "1.50" }), 2],
  "one credit had more, another less": [([, opening]) => moveMoney(lotsOf(opening)), -1],
  "a credit is there twice": [([, opening]) => void lotsOf(opening).push(lotsOf(opening)[0] as Row), 2],
  "a credit is left out": [([, opening]) => void lotsOf(opening).shift(), 3],
  "a credit comes in later": [([, opening]) => set(lotsOf(opening)[0], { at: "9999-01-01T00:00:00.000Z" }), 2],
  "a credit came in earlier": [([, opening]) => set(lotsOf(opening)[0], { at: "2020-01-01T00:00:00.000Z" }), -1],
  "a credit locked in lower rates": [
    ([, opening]) => set((lotsOf(opening)[0]?.rates as Row[] | undefined)?.[0], { input_price: "0.21" }),
    3,
  ],
  "a credit locked in higher rates": [
    ([, opening]) => set((lotsOf(opening)[0]?.rates as Row[] | undefined)?.[0], { input_price: "0.23" }),
    -1,
  ],
  "a charge is of the other credit, at the same rates": [
    ([, opening], [charge]) => set(lotsOf(charge)[0], { lot: lotsOf(opening)[1]?.lot }),
    -1,
  ],
  "a charge is of a credit that nobody knows": [(_, [charge]) => set(lotsOf(charge)[0], { lot: "other" }), -1],
  "such a credit is in the closing balance, too": [
    (rows, [charge]) => {
      const [first, second] = lotsOf(rows.at(-1));
      const cost = parseUsd(String(charge?.cost)) ?? 0n;
      set(lotsOf(charge)[0], { lot: "other" });
      set(first, { balance: lessBy(first?.balance, -cost) });
      void lotsOf(rows.at(-1)).push({ ...(second as Row), lot: "other", balance: `-${charge?.cost}` } as never);
    },
    -1,
  ],
  "a credit gives more than it has": [
    (rows) => {
      const [first, second] = lotsOf(rows[1]);
      const all = parseUsd(String(first?.balance)) ?? 0n;
      set(first, { balance: "0.000000000001" });
      set(second, { balance: lessBy(second?.balance, 1n - all) });
    },
    3,
  ],
  "a credit has less at the end": [(rows) => set(lotsOf(rows.at(-1))[0], { balance: "0.50" }), -1],
  "one credit has more at the end, another less": [(rows) => moveMoney(lotsOf(rows.at(-1))), -1],
  "a credit is left out at the end": [(rows) => void lotsOf(rows.at(-1)).pop(), -1],
  "credits are left out at the beginning": [(rows) => set(rows[1], { lots: undefined }), -1],
  "credits are left out at the end": [(rows) => set(rows.at(-1), { lots: undefined }), -1],
  "it counts more than is in it": [(rows) => set(rows.at(-1), { at: "9999-01-01T00:00:00.000Z" }), -1],
};

describe.each(dialects)("%s", (dialect) => {
  test("a statement is proved by the command and by the page's Python, and both name the line of each manipulation", async () => {
    const { sealer, statement, clock, account, others, midnight, close } = await openStatementBooks(
      newDatabase,
      dialect,
    );
    const file = join(directory, `${dialect}.jsonl`);
    const write = (lines: readonly string[]) => writeFileSync(file, lines.map((line) => `${line}\n`).join(""));
    const verify = async () => {
      const { code, output, notes } = await runHere(["verify", file], {});
      return { code, text: code === 0 ? output : notes };
    };
    const ask = () => askPython(file);
    const tryAll = async (lines: readonly string[], changes: typeof manipulations) => {
      const named: Record<string, unknown> = {};
      const expected: Record<string, unknown> = {};
      for (const [name, [change, line]] of Object.entries(changes)) {
        const rows: Row[] = lines.map((one) => JSON.parse(one));
        const of = (kind: string) => rows.filter((row) => row.kind === kind);
        change(rows, of("charge"), of("seal"));
        write(rows.map((row) => JSON.stringify(row)));
        const found = await Promise.all([verify(), ask()]);
        named[name] = found.map((one) => `${one.code} ${/^line \d+: /.exec(one.text)?.[0] ?? one.text}`);
        const number = line > 0 ? line : lines.length + line + (line === 0 ? 0 : 1);
        expected[name] = found.map(() => `1 line ${number}: `);
      }
      expect(named).toEqual(expected);
    };

    const ofLots = await statement({ from: midnight - dayMs, of: others.at(-1) as string });
    write(ofLots);
    expect([await verify(), await ask()]).toMatchObject([{ code: 0 }, { code: 0 }]);
    await tryAll(ofLots, lotManipulations);
    // As they were before statements told what each credit has.
    write(
      ofLots.map((line) =>
        JSON.stringify({ ...JSON.parse(line), lots: JSON.parse(line).cost && JSON.parse(line).lots }),
      ),
    );
    expect(await verify()).toMatchObject({
      code: 0,
      text: expect.stringContaining("what each credit had is not in it"),
    });
    expect(await ask()).toMatchObject({ code: 0 });

    write(await statement());
    expect(await verify()).toMatchObject({ code: 0, text: expect.stringContaining("0 of 2 days sealed") });
    expect(await ask()).toMatchObject({ code: 0 });
    await sealer.sealDue();
    for (const of of others) {
      write(await statement({ of }));
      expect([await verify(), await ask()]).toMatchObject([{ code: 0 }, { code: 0 }]);
    }
    const lines = await statement();
    const last = JSON.parse(lines.at(-2) ?? "").chain;
    write(lines);
    const { code, text } = await verify();
    expect({ code, text }).toMatchObject({ code: 0, text: expect.stringContaining(`account ${account}, `) });
    expect(text).toContain("opening 0.00, top-ups 10.00, grants 0.01001013, refunds 5.00");
    expect(text).toContain(`2 of 2 days sealed, the last by seal 2, chain ${last}`);
    expect(await ask()).toMatchObject({ code: 0, text: expect.stringContaining(`seal 2, chain ${last}`) });
    expect(text).not.toContain("no seal proves");
    const [one = "", other = ""] = lines.filter((line) => line.includes('"kind":"seal"'));
    const dayOf = (seal: string) => JSON.parse(seal).day;
    write(lines.filter((line) => line !== one));
    expect(await verify()).toMatchObject({ code: 0, text: expect.stringMatching(`charges of ${dayOf(one)}$`) });
    write(lines.filter((line) => line !== one && line !== other));
    expect(await verify()).toMatchObject({
      code: 0,
      text: expect.stringMatching(`0 of 2 days sealed; no seal proves the charges of ${dayOf(one)}, ${dayOf(other)}$`),
    });

    await tryAll(lines, manipulations);
    write([lines[0] ?? "", "no JSON", ...lines.slice(2)]);
    expect([await verify(), await ask()]).toMatchObject([
      { code: 1, text: expect.stringContaining("line 2: ") },
      { code: 1, text: expect.stringContaining("line 2: ") },
    ]);
    await clock.until(close());
  });
});
