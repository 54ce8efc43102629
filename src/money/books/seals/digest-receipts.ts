import { readTime } from "#src/storage/reads/read-entity.ts";
import type { Row, Snapshot } from "#src/storage/reads/snapshot.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inScope, only, type TimeSpan } from "../proof/scope.ts";
import {
  type AccountSeal,
  type DigestedLine,
  type DigestedReceipt,
  digestReceipt,
  newAccountDigest,
} from "./seal-tree.ts";

/** Each receipt with its lines, one row a line, in the order of settlement. */
const receiptsWithLines = `
  select receipt.request_id, receipt.run_id, receipt.account_id, receipt.key_id, receipt.model, receipt.status,
    receipt.settled_at, receipt.input_tokens, receipt.output_tokens, receipt.cost, receipt.shortfall,
    receipt.budget_slice_id, line.lot_id, line.slice_id, line.input_tokens as line_input_tokens,
    line.output_tokens as line_output_tokens, line.input_rate, line.output_rate, line.cost as line_cost
  from receipt left join line on line.request_id = receipt.request_id and line.run_id = receipt.run_id
  order by receipt.settled_at, receipt.run_id, receipt.request_id, line.seq`;

/** Costs are summed in two parts, split as in `sumColumns`. */
const part = 1_000_000;

interface AccountSums {
  receipts: number;
  costHigh: number;
  costLow: number;
  readonly hash: ReturnType<typeof newAccountDigest>;
}

/** A receipt whose lines are still read. */
interface OpenReceipt {
  readonly receipt: DigestedReceipt;
  readonly lines: DigestedLine[];
}

/** The sums and digests of a day's receipts, which are added span by span in the order of time. */
export class ReceiptDigests {
  readonly #accounts = new Map<string, AccountSums>();
  readonly #slices = new Map<string, bigint>();

  /** What each slice, of a lot or of a budget, has spent. */
  get slices(): ReadonlyMap<string, bigint> {
    return this.#slices;
  }

  /** What each account has, ordered by account id. Nothing can be added afterwards. */
  finish(): AccountSeal[] {
    return Array.from(this.#accounts, ([accountId, { hash, ...sums }]) => ({
      ...sums,
      accountId,
      digest: hash.digest("hex"),
    })).toSorted((a, b) => (a.accountId < b.accountId ? -1 : 1));
  }

  /** Adds the receipts of a span. Calls `pace` between pieces. */
  async add(
    snapshot: Pick<Snapshot, "rows">,
    dialect: Storage["dialect"],
    within: TimeSpan,
    pace: () => Promise<void>,
  ): Promise<void> {
    let open: OpenReceipt | undefined;
    for await (const rows of snapshot.rows(inScope(receiptsWithLines, only(within), dialect))) {
      for (const row of rows) {
        if (open?.receipt.runId !== row.run_id || open?.receipt.requestId !== row.request_id) {
          this.#addReceipt(open?.receipt);
          const lines: DigestedLine[] = [];
          open = { receipt: readReceipt(row, lines), lines };
          this.#addSlice(row.budget_slice_id, row.cost);
        }
        if (open !== undefined && row.lot_id !== null) {
          addLine(open.lines, row);
          this.#addSlice(row.slice_id, row.line_cost);
        }
      }
      await pace();
    }
    this.#addReceipt(open?.receipt);
  }

  #addReceipt(receipt: DigestedReceipt | undefined): void {
    if (receipt === undefined) {
      return;
    }
    let account = this.#accounts.get(receipt.accountId);
    if (account === undefined) {
      account = { receipts: 0, costHigh: 0, costLow: 0, hash: newAccountDigest() };
      this.#accounts.set(receipt.accountId, account);
    }
    account.receipts++;
    account.costHigh += Math.floor(Number(receipt.cost) / part);
    account.costLow += Number(receipt.cost) % part;
    account.hash.update(digestReceipt(receipt));
  }

  #addSlice(sliceId: unknown, cost: unknown): void {
    if (sliceId !== null) {
      const id = String(sliceId);
      this.#slices.set(id, (this.#slices.get(id) ?? 0n) + BigInt(String(cost)));
    }
  }
}

function readReceipt(row: Row, lines: readonly DigestedLine[]): DigestedReceipt {
  return {
    requestId: String(row.request_id),
    runId: String(row.run_id),
    accountId: String(row.account_id),
    keyId: String(row.key_id),
    model: String(row.model),
    status: String(row.status),
    settledAt: readTime(row.settled_at),
    inputTokens: String(row.input_tokens),
    outputTokens: String(row.output_tokens),
    cost: String(row.cost),
    shortfall: String(row.shortfall),
    lines,
  };
}

/** Adds a line to those of its receipt. The slices of a lot are one line, as customers see it. */
function addLine(lines: DigestedLine[], row: Row): void {
  const [inputTokens, outputTokens] = [row.line_input_tokens, row.line_output_tokens].map((n) => BigInt(String(n)));
  const [input, output, cost] = [inputTokens ?? 0n, outputTokens ?? 0n, BigInt(String(row.line_cost))];
  const known = lines.find(({ lotId }) => lotId === row.lot_id);
  if (known !== undefined) {
    known.inputTokens += input;
    known.outputTokens += output;
    known.cost += cost;
    return;
  }
  const rates = { inputRate: String(row.input_rate), outputRate: String(row.output_rate) };
  lines.push({ lotId: String(row.lot_id), inputTokens: input, outputTokens: output, ...rates, cost });
}
