import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createClient, type Transport } from "@connectrpc/connect";
import { type Command, Option } from "commander";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import type { Receipt } from "#gen/tollgate/metering/v1/usage_pb.js";
import { moment } from "../../../shared/arguments.ts";
import type { Io } from "../../../shared/io.ts";
import { whileTelling } from "../../../shared/progress.ts";
import { addQuestion } from "../../ask-core.ts";
import { receiptDocument } from "../../output/metering-documents.ts";
import { contractGroups, labelFilter, usualGroups } from "../usage.ts";
import { type ExportFile, openExport } from "./export-file.ts";
import { exportFocus, type FocusOptions } from "./focus.ts";
import { columnsOf, type FormatName, formats } from "./formats.ts";
import { countRequests, exportUsage, type UsageExportOptions } from "./usage.ts";

const pageSize = 1000;

interface ReceiptOptions {
  readonly account?: string;
  readonly from?: Date;
  readonly to?: Date;
  readonly format: FormatName;
  readonly resume?: boolean;
}

/** `tollgate export …` */
export function addExport(program: Command, io: Io): void {
  const group = program.command("export").description("write receipts or usage to a file");
  const withFormat = (command: Command) =>
    command.addOption(
      new Option("--format <format>", "how rows are written").choices(Object.keys(formats)).default("jsonl"),
    );

  addQuestion<[string], ReceiptOptions>(group, "receipts <file>", io, {
    description: "write receipts, newest first; CSV leaves out their lines",
    tellsProgress: true,
    options: (command) =>
      withFormat(command)
        .option("--account <account>", "only this account")
        .option("--from <time>", "settled at or after, such as 2026-01-31 or 2026-01-31T12:00:00Z", moment)
        .option("--to <time>", "settled before", moment)
        .option("--resume", "go on with an unfinished file; the other options must be the same"),
    ask: async (core, options, path) => {
      const columns = columnsOf(toRow(emptyReceipt()));
      const resume = options.resume === true;
      const file = await openExport(path, formats[options.format], { columns, resume });
      try {
        return { file: path, rows: await exportReceipts(core, file, options, io) };
      } finally {
        await file.close();
      }
    },
  });

  addQuestion<[string], Omit<UsageExportOptions, "format"> & FocusOptions & { readonly format: UsageFormat }>(
    group,
    "usage <file>",
    io,
    {
      description: "write sums of requests, tokens and cost",
      tellsProgress: true,
      options: (command) =>
        command
          .addOption(
            new Option("--format <format>", "how rows are written; focus: CSV by FOCUS 1.2, days by all labels")
              .choices(usageFormats)
              .default("jsonl"),
          )
          .option("--account <account>", "only this account")
          .option("--from <time>", "settled at or after, such as 2026-01-31 or 2026-01-31T12:00:00Z", moment)
          .option("--to <time>", "settled before", moment)
          .option(
            "--by <groups>",
            "what to group by: account, key, model, day, hour, and label:NAME for one label; not with focus",
            contractGroups,
            usualGroups,
          )
          .option(
            "--label <name=value>",
            "only requests with this label; name= for those without it; not with focus",
            labelFilter,
          )
          .option("--provider <name>", "with focus: who sells the tokens", "Tollgate"),
      async ask(core, { format, ...options }, path) {
        if (format !== "focus") {
          return { file: path, rows: await exportUsage(core, path, { ...options, format }, io) };
        }
        if (options.label !== undefined || options.by !== usualGroups) {
          throw new Error("--by and --label are not for focus, whose rows are those of the specification");
        }
        return { file: path, rows: await exportFocus(core, path, options, io) };
      },
    },
  );
}

/** How usage is written. */
type UsageFormat = FormatName | "focus";
const usageFormats = [...Object.keys(formats), "focus"];

/** Writes the receipts that the file does not have yet. Returns how many. */
async function exportReceipts(
  core: Transport,
  file: ExportFile,
  { account: accountId = "", from, to = new Date() }: ReceiptOptions,
  io: Io,
): Promise<number> {
  const client = createClient(MeteringService, core);
  const isNew = behind(file.last);
  // The list begins with the millisecond of the last receipt, because more receipts may be of the same one.
  const before = file.last === undefined ? to : new Date(Date.parse(String(file.last.settled_at)) + 1);
  const filter = { accountId, to: timestampFromDate(before), ...(from && { from: timestampFromDate(from) }) };
  return whileTelling("receipts", "receipts", io, async (report) => {
    const total = await countRequests(core, filter);
    let written = 0;
    let pageToken = "";
    do {
      const page = await client.listReceipts({ ...filter, pageSize, pageToken });
      const rows = page.receipts.map(toRow).filter(isNew);
      await file.write(rows);
      written += rows.length;
      report(written, Math.max(total, written), rows.at(-1)?.settled_at ?? undefined);
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    return written;
  });
}

/** Each row has the same columns, wherever its receipt is kept. */
const toRow = (receipt: Receipt) => ({ ...receiptDocument(receipt), archived: receipt.archived });

type ReceiptDocument = ReturnType<typeof receiptDocument>;

/** Whether a receipt comes after the last one of a file. Call it for each receipt in the order of the list. */
function behind(last: ExportFile["last"]): (receipt: ReceiptDocument) => boolean {
  let isBehind = last === undefined;
  return (receipt) => {
    if (isBehind) {
      return true;
    }
    const isOlder = Date.parse(String(receipt.settled_at)) < Date.parse(String(last?.settled_at));
    isBehind = isOlder || (receipt.request_id === last?.request_id && receipt.run_id === last?.run_id);
    return isOlder;
  };
}

/** A receipt whose row has all columns. */
function emptyReceipt(): Receipt {
  return {
    requestId: "",
    runId: "",
    accountId: "",
    keyId: "",
    model: "",
    inputTokens: 0n,
    outputTokens: 0n,
    costPicoUsd: 0n,
    shortfallPicoUsd: 0n,
    status: 1,
    lines: [],
    finishReason: "",
    server: "",
    surface: "",
    labels: {},
    archived: false,
  } as unknown as Receipt;
}
