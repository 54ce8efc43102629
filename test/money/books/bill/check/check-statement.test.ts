import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "@jest/globals";
import { runHere } from "../../../../support/run-here.ts";
import { databases, dialects } from "../../../databases.ts";
import { openStatementBooks } from "../statement-books.ts";

const newDatabase = databases();
const directory = mkdtempSync(join(tmpdir(), "tollgate-verify-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** The page's own program. */
const page = readFileSync(fileURLToPath(new URL("../../../../../docs/statement.md", import.meta.url)), "utf8");
const python = /```python\n(.*?)```/s.exec(page)?.[1] ?? "";

type Row = Record<string, never>;
type Change = (rows: Row[], charges: Row[], seals: Row[]) => void;

/** Changes a price, and everything that follows from it, as somebody would who wants all sums to fit. */
function cheat(rows: Row[], charge: Record<string, unknown>): void {
  const [lot] = charge.lots as Record<string, string>[];
  const more = 1n;
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

/** What somebody may do to a statement, and the line that does not fit any more: counted from 1, or from its end. */
const manipulations: Readonly<Record<string, readonly [Change, number]>> = {
  "a charge costs less": [(_, [charge]) => set(charge, { cost: "0.00" }), 5],
  "a rate is another": [(_, [, charge]) => set((charge?.lots as Row[] | undefined)?.[0], { input_price: "0.21" }), 6],
  "tokens are others": [(_, [, charge]) => set(charge, { completion_tokens: 49 }), 6],
  "a charge is left out": [(rows, [, charge]) => take(rows, charge), 6],
  "a charge is there twice": [(rows, [, charge]) => void rows.splice(6, 0, charge as Row), 7],
  "two charges changed places": [(rows, [, charge, next]) => void rows.splice(5, 2, next as Row, charge as Row), 6],
  "a charge names another model": [(_, [charge]) => set(charge, { model: "dearer" }), 8],
  "a rate is another, and all sums fit": [(rows, [, , charge]) => cheat(rows, charge as Row), 8],
  "a payment is larger": [(rows) => set(rows[3], { amount: "6.00" }), 4],
  "the opening balance is larger": [(rows) => set(rows[1], { balance: "1.00" }), 3],
  "the closing balance is larger": [(rows) => set(rows.at(-1), { balance: "1.00" }), -1],
  "the chain is broken": [(_rows, _charges, [, seal]) => set(seal, { before: digits }), -2],
  "a seal hides the account": [(_rows, _charges, [seal]) => set(seal, { digest: undefined }), 8],
  "a path leads elsewhere": [
    (_rows, _charges, [seal]) => set((seal?.path as Row[] | undefined)?.[0], { hash: digits }),
    8,
  ],
  "the end is cut off": [(rows) => void rows.pop(), 0],
};

describe.each(dialects)("%s", (dialect) => {
  test("a statement is proved by the command and by the page's Python, and both name the line of each manipulation", async () => {
    const { sealer, statement, clock, account, others, close } = await openStatementBooks(newDatabase, dialect);
    const file = join(directory, `${dialect}.jsonl`);
    const write = (lines: readonly string[]) => writeFileSync(file, lines.map((line) => `${line}\n`).join(""));
    const verify = async () => {
      const { code, output, notes } = await runHere(["verify", file], {});
      return { code, text: code === 0 ? output : notes };
    };
    const ask = async () =>
      promisify(execFile)("python3", ["-c", python, file]).then(
        ({ stdout }) => ({ code: 0, text: stdout }),
        ({ code, stderr }) => ({ code: Number(code), text: String(stderr) }),
      );

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

    const named: Record<string, unknown> = {};
    const expected: Record<string, unknown> = {};
    for (const [name, [change, line]] of Object.entries(manipulations)) {
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
    await clock.until(close());
  });
});
