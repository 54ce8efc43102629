import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { v7 } from "uuid";
import { parseRate, parseUsd } from "#lib/money/money.ts";
import { receiptDocument } from "#src/cli/admin/output/metering-documents.ts";
import { renderJson } from "#src/cli/admin/output/render.ts";
import { readReceipts } from "#src/money/books/receipts/receipts.ts";
import { databases, dialects } from "../../../money/databases.ts";
import { type Metering, never, openMetering, request, run, testModel, usd } from "../../../money/fixture.ts";
import { noArchives } from "../../../money/no-archives.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";

// Somebody with nothing but the printed receipt works it out by hand, as docs/money.md says.

const newDatabase = databases();
const rate = fc.integer({ min: 0, max: 40 }).map((tens) => tens * 10_007);
const lot = fc.record({
  rates: fc.record({ input: rate, output: rate }),
  kind: fc.constantFrom("free" as const, "grant" as const),
  amount: fc.oneof(fc.integer({ min: 1, max: 900_000 }), fc.integer({ min: 1, max: 20_000_000 })),
});
const life = fc.record({
  lots: fc.array(lot, { minLength: 1, maxLength: 6 }),
  late: fc.array(lot, { maxLength: 2 }),
  rich: fc.boolean(),
  requests: fc.array(
    fc.record({
      inputTokens: fc.integer({ min: 0, max: 60 }),
      outputTokens: fc.integer({ min: 0, max: 90 }),
      // Above 100 the engine passes its cap.
      percent: fc.oneof(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 101, max: 5000 })),
    }),
    { minLength: 1, maxLength: 3 },
  ),
});

type Lot = typeof lot extends fc.Arbitrary<infer Value> ? Value : never;
type Life = typeof life extends fc.Arbitrary<infer Value> ? Value : never;

/** An engine that passes its cap by far: the last token of the only lot is shared with what is owed. */
const beyond: Life = {
  lots: [{ rates: { input: 200_140, output: 250_175 }, kind: "free", amount: 20_000_000 }],
  late: [],
  rich: false,
  requests: [{ inputTokens: 10, outputTokens: 60, percent: 5000 }],
};

/** How many lives are lived: the arithmetic is the same on both, and a server's statements take longer. */
const runs = { sqlite: 40, postgresql: 15 };

interface PrintedLine {
  readonly lot_id: string | null;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly input_usd_per_million: string;
  readonly output_usd_per_million: string;
  readonly cost_usd: string;
  readonly shared_token_usd: string;
}

interface Printed {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: string;
  readonly shortfall_usd: string;
  readonly lines: readonly PrintedLine[];
}

/** Reads what parses. */
function exact(value: bigint | undefined): bigint {
  if (value === undefined) {
    throw new Error("no exact amount");
  }
  return value;
}

/** The least of some amounts: Math.min knows no bigint. */
function least(...values: [bigint, ...bigint[]]): bigint {
  return values.toSorted((a, b) => Number(a - b))[0] as bigint;
}

const atLeastNothing = (value: bigint) => (value > 0n ? value : 0n);

/** What the lines before paid of the token that comes next, and their rates for it. */
interface Begun {
  readonly paid: bigint;
  readonly rates: readonly bigint[];
}

/** What a line's own tokens cost, one by one; lines before may have begun to pay the first of them. */
function costOfTokens(
  line: Printed["lines"][number],
  rates: Readonly<Record<"input" | "output", bigint>>,
  begun: Begun | undefined,
): bigint {
  let [cost, first] = [0n, begun];
  for (const token of ["input", "output"] as const) {
    for (let left = line[`${token}_tokens`]; left > 0; left--) {
      cost += first ? atLeastNothing(least(rates[token], ...first.rates) - first.paid) : rates[token];
      first = undefined;
    }
  }
  return cost;
}

/** Works a receipt out token by token; returns how many of its tokens are shared. */
function workOut(printed: Printed): number {
  const unread = { input: printed.input_tokens, output: printed.output_tokens };
  let sharedTokens = 0;
  let begun: Begun | undefined;
  const sums = { paid: 0n, owed: 0n };
  for (const line of printed.lines) {
    const rates = {
      input: exact(parseRate(line.input_usd_per_million)),
      output: exact(parseRate(line.output_usd_per_million)),
    };
    const shared = exact(parseUsd(line.shared_token_usd));
    const cost = costOfTokens(line, rates, begun) + shared;
    begun = line.input_tokens + line.output_tokens > 0 ? undefined : begun;
    unread.input -= line.input_tokens;
    unread.output -= line.output_tokens;
    expect(exact(parseUsd(line.cost_usd))).toBe(cost);
    sums[line.lot_id === null ? "owed" : "paid"] += cost;
    if (shared === 0n) {
      continue;
    }
    const next = unread.input > 0 ? rates.input : rates.output;
    // There is a token to share, and what this line could not pay of it.
    expect(unread.input + unread.output).toBeGreaterThan(0);
    sharedTokens += begun === undefined ? 1 : 0;
    const before: Begun = begun ?? { paid: 0n, rates: [] };
    expect(shared).toBeLessThan(least(next, ...before.rates) - before.paid);
    begun = { paid: before.paid + shared, rates: [...before.rates, next] };
  }
  expect(begun).toBeUndefined();
  expect(unread).toEqual({ input: 0, output: 0 });
  expect(sums.paid + sums.owed).toBe(exact(parseUsd(printed.cost_usd)));
  expect(sums.owed).toBe(exact(parseUsd(printed.shortfall_usd)));
  return sharedTokens;
}

describe.each(dialects)("%s", (dialect) => {
  const clock = new ManualClock(Date.now());

  async function print({ storage }: Metering, requestId: string): Promise<Printed> {
    const [receipt] = await readReceipts(storage, requestId, undefined, noArchives);
    if (receipt === undefined) {
      throw new Error("no receipt");
    }
    return JSON.parse(renderJson(receiptDocument(receipt)));
  }

  /** Runs the requests of a life on an account of its own; returns their printed receipts. */
  async function live(metering: Metering, { lots, late, rich, requests }: Life) {
    const { funds, ledger, prices } = metering;
    const accountId = await metering.account();
    const credit = async ({ rates, kind, amount }: Lot) => {
      await prices.set(testModel, rates);
      await clock.until(funds.credit({ accountId, kind, amount, reference: v7() }));
    };
    for (const each of lots) {
      await credit(each);
    }
    if (rich) {
      await clock.until(funds.credit({ accountId, kind: "paid", amount: usd, reference: v7() }));
    }
    const receipts: Printed[] = [];
    const arriving = [...late];
    for (const { percent, ...tokens } of requests) {
      const wanted = request(accountId, tokens);
      const hold = await clock.until(ledger.hold(wanted, never)).catch(() => undefined);
      if (hold === undefined) {
        break; // the money is spent
      }
      const next = arriving.shift();
      if (next !== undefined) {
        await credit(next);
      }
      const outputTokens = Math.floor((hold.outputTokens * percent) / 100);
      await clock.until(hold.settle({ inputTokens: tokens.inputTokens, outputTokens }, "completed"));
      receipts.push(await print(metering, wanted.requestId));
    }
    return { accountId, receipts };
  }

  test("every line, its shared token and the total can be worked out from the printed receipt alone", async () => {
    const metering = await openMetering({ clock, url: await newDatabase(dialect) });
    const seen = { receipts: 0, shared: 0, owed: 0 };
    await fc.assert(
      fc.asyncProperty(life, async (drawn) => {
        const { accountId, receipts } = await live(metering, drawn);
        for (const receipt of receipts) {
          seen.receipts++;
          seen.shared += workOut(receipt);
          if (receipt.shortfall_usd !== "0.00") {
            seen.owed++;
          }
        }
        // What the receipts say of a lot is what it has lost, except for debts, which are paid without a receipt.
        if (receipts.some(({ shortfall_usd }) => shortfall_usd !== "0.00")) {
          return;
        }
        const lines = receipts.flatMap((receipt) => receipt.lines);
        for (const { id, granted, remaining } of await metering.funds.lots(accountId, {
          after: undefined,
          limit: 20,
        })) {
          const paid = lines.filter((line) => line.lot_id === id).map((line) => exact(parseUsd(line.cost_usd)));
          expect(paid.reduce((sum, cost) => sum + cost, 0n)).toBe(BigInt(granted - remaining));
        }
      }),
      { numRuns: runs[dialect], examples: [[beyond]] },
    );
    expect(seen.receipts).toBeGreaterThan(1);
    expect(seen.shared).toBeGreaterThan(0);
    expect(seen.owed).toBeGreaterThan(0);
    await clock.until(metering.close());
  }, 60_000);

  test("the worked example of the documentation is what is printed", async () => {
    const metering = await openMetering({ clock, url: await newDatabase(dialect) });
    const accountId = await metering.account({ free: 10_130_000 });
    await metering.prices.set(testModel, { input: 220_000, output: 275_000 });
    await clock.until(metering.funds.credit({ accountId, kind: "paid", amount: 10 * usd, reference: v7() }));
    const wanted = request(accountId, { inputTokens: 20, outputTokens: 40 });
    await clock.until(run(metering.ledger, wanted));
    const printed = await print(metering, wanted.requestId);
    expect(workOut(printed)).toBe(1);
    expect(printed).toMatchObject({
      cost_usd: "0.000014375",
      lines: [
        { input_tokens: 20, output_tokens: 24, cost_usd: "0.00001013", shared_token_usd: "0.00000013" },
        { input_tokens: 0, output_tokens: 16, cost_usd: "0.000004245", shared_token_usd: "0.00" },
      ],
    });
    await clock.until(metering.close());
  });
});
