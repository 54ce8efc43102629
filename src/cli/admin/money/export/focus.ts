import { timestampFromDate, timestampMs } from "@bufbuild/protobuf/wkt";
import { createClient, type Transport } from "@connectrpc/connect";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import type { Receipt } from "#gen/tollgate/metering/v1/usage_pb.js";
import { formatUsd } from "#lib/money/money.ts";
import { dayMs } from "#lib/time/days.ts";
import type { Io } from "../../../shared/io.ts";
import { whileTelling } from "../../../shared/progress.ts";
import { openExport } from "./export-file.ts";
import { formats } from "./formats.ts";
import { countRequests } from "./usage.ts";

// FOCUS, the FinOps Open Cost and Usage Specification, version 1.2 (https://focus.finops.org): a row for each day of UTC,
// account, key, model and set of labels, added up from receipts, since only they have all labels together.

const pageSize = 1000;

/** Which usage to write, and who provides it. */
export interface FocusOptions {
  readonly account?: string;
  readonly from?: Date;
  readonly to?: Date;
  /** The name of whoever sells the tokens. */
  readonly provider: string;
}

/** The sums of a row. */
interface FocusSums {
  readonly first: Receipt;
  requests: number;
  inputTokens: bigint;
  outputTokens: bigint;
  cost: bigint;
}

/** Writes the rows to a new file, newest days first. Returns how many. */
export async function exportFocus(
  core: Transport,
  path: string,
  { account: accountId = "", from, to = new Date(), provider }: FocusOptions,
  io: Pick<Io, "progress">,
): Promise<number> {
  const filter = { accountId, to: timestampFromDate(to), ...(from && { from: timestampFromDate(from) }) };
  const file = await openExport(path, formats.csv, { columns: focusColumns, resume: false });
  try {
    return await whileTelling("usage", "receipts", io, async (report) => {
      const total = await countRequests(core, filter);
      let written = 0;
      let read = 0;
      for await (const { day, sums } of readDays(core, filter)) {
        await file.write(sums.map((sum) => toFocusRow(sum, day, provider)));
        written += sums.length;
        read += sums.reduce((count, { requests }) => count + requests, 0);
        report(read, Math.max(total, read));
      }
      return written;
    });
  } finally {
    await file.close();
  }
}

interface FocusDay {
  /** Whole days since 1970. */
  readonly day: number;
  readonly sums: readonly FocusSums[];
}

/** Adds up receipts, which come newest first, day by day. */
async function* readDays(
  core: Transport,
  filter: { readonly accountId: string; readonly to: ReturnType<typeof timestampFromDate> },
): AsyncGenerator<FocusDay> {
  const client = createClient(MeteringService, core);
  let day = Number.NaN;
  let sums = new Map<string, FocusSums>();
  let pageToken = "";
  do {
    const page = await client.listReceipts({ ...filter, pageSize, pageToken });
    for (const receipt of page.receipts) {
      const ofReceipt = Math.floor((receipt.settledAt === undefined ? 0 : timestampMs(receipt.settledAt)) / dayMs);
      if (ofReceipt !== day && sums.size > 0) {
        yield { day, sums: [...sums.values()] };
        sums = new Map();
      }
      day = ofReceipt;
      addReceipt(sums, receipt);
    }
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  if (sums.size > 0) {
    yield { day, sums: [...sums.values()] };
  }
}

function addReceipt(sums: Map<string, FocusSums>, receipt: Receipt): void {
  const { accountId, keyId, model } = receipt;
  const key = JSON.stringify([accountId, keyId, model, toTags(receipt)]);
  const sum = sums.get(key) ?? { first: receipt, requests: 0, inputTokens: 0n, outputTokens: 0n, cost: 0n };
  sums.set(key, sum);
  sum.requests++;
  sum.inputTokens += receipt.inputTokens;
  sum.outputTokens += receipt.outputTokens;
  sum.cost += receipt.costPicoUsd;
}

/** The labels of a receipt as JSON text, in the order of their names. Null: it has none. */
function toTags({ labels }: Pick<Receipt, "labels">): string | null {
  const names = Object.keys(labels).sort();
  return names.length === 0 ? null : JSON.stringify(Object.fromEntries(names.map((name) => [name, labels[name]])));
}

function toFocusRow({ first, ...sum }: FocusSums, day: number, provider: string) {
  const cost = formatUsd(sum.cost);
  const tokens = String(sum.inputTokens + sum.outputTokens);
  const begun = new Date(day * dayMs);
  const [year, month] = [begun.getUTCFullYear(), begun.getUTCMonth()];
  return {
    BilledCost: cost,
    BillingAccountId: first.accountId,
    BillingAccountName: null,
    BillingCurrency: "USD",
    BillingPeriodEnd: toTime(Date.UTC(year, month + 1)),
    BillingPeriodStart: toTime(Date.UTC(year, month)),
    ChargeCategory: "Usage",
    ChargeClass: null,
    ChargeDescription: `Tokens of ${first.model}`,
    ChargeFrequency: "Usage-Based",
    ChargePeriodEnd: toTime((day + 1) * dayMs),
    ChargePeriodStart: toTime(day * dayMs),
    ConsumedQuantity: tokens,
    ConsumedUnit: "Tokens",
    ContractedCost: cost,
    EffectiveCost: cost,
    InvoiceIssuerName: provider,
    ListCost: cost,
    PricingCategory: "Standard",
    PricingQuantity: tokens,
    PricingUnit: "Tokens",
    ProviderName: provider,
    PublisherName: provider,
    ServiceCategory: "AI and Machine Learning",
    ServiceName: "Inference",
    ServiceSubcategory: "Generative AI",
    SkuId: first.model,
    SubAccountId: first.keyId === "" ? null : first.keyId,
    Tags: toTags(first),
    x_InputTokens: String(sum.inputTokens),
    x_OutputTokens: String(sum.outputTokens),
    x_Requests: String(sum.requests),
  };
}

const toTime = (ms: number) => new Date(ms).toISOString().replace(".000Z", "Z");

/** The columns of a file. */
const focusColumns = Object.keys(
  toFocusRow({ first: { labels: {} } as Receipt, requests: 0, inputTokens: 0n, outputTokens: 0n, cost: 0n }, 0, ""),
);
