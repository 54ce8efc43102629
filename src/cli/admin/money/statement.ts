import { open, rm, writeFile } from "node:fs/promises";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createClient, type Transport } from "@connectrpc/connect";
import { type Command, Option } from "commander";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { monthCsv, monthDocument, monthPage } from "#lib/money/month-statement.ts";
import { keepYoungSpaceSmall } from "#lib/overload/young-space.ts";
import { dayMs } from "#lib/time/days.ts";
import { moment } from "../../shared/arguments.ts";
import type { Io } from "../../shared/io.ts";
import { whileTelling } from "../../shared/progress.ts";
import { addQuestion } from "../ask-core.ts";
import { type Document, renderJson } from "../output/render.ts";
import { countRequests } from "./export/usage.ts";

/** The core may take this long with the largest account, because people see the progress. In milliseconds. */
const timeoutMs = 3_600_000;

interface StatementOptions {
  readonly month?: string;
  readonly format?: "json" | "csv" | "html";
  readonly from?: Date;
  readonly to?: Date;
  readonly out?: string;
}

/** `tollgate statement` */
export function addStatement(program: Command, io: Io): void {
  addQuestion<[string], StatementOptions>(program, "statement <account>", io, {
    description: "a month's sums and what is owed; or every movement of some days, in a file that `verify` proves",
    tellsProgress: true,
    options: (command) =>
      command
        .option("--month <month>", "sum up a UTC month, such as 2026-10, instead")
        .addOption(
          new Option("--format <format>", "the month as a document, a spreadsheet's table or a page to print").choices([
            "json",
            "csv",
            "html",
          ]),
        )
        .option("--from <time>", "the first UTC day, such as 2026-01-01", moment)
        .option("--to <time>", "the day after the last one; the current day unless set", moment)
        .option("--out <file>", "the file to write; it must not be there yet"),
    ask: async (core, { month, format, from, to, out }, accountId) => {
      if (month !== undefined) {
        return sumUp(core, accountId, { month, format, out });
      }
      if (from === undefined || out === undefined || format !== undefined) {
        throw new Error("name a month, as --month 2026-10, or --from and --out");
      }
      return { file: out, lines: await writeStatement(core, accountId, { from, to, out }, io) };
    },
  });
}

/** A month as it was asked for: as a document, or written in a format to a file or to standard output. */
async function sumUp(
  core: Transport,
  accountId: string,
  {
    month,
    format,
    out,
  }: { readonly [Name in "format" | "out"]: StatementOptions[Name] | undefined } & {
    readonly month: string;
  },
): Promise<Document | string> {
  const whose = await createClient(MeteringService, core).listMonths({ accountId, month });
  const [found] = whose.months;
  if (found === undefined) {
    throw new Error("the core's answer is incomplete: is it another version?");
  }
  const document = monthDocument(whose, found);
  if (format === undefined && out === undefined) {
    return document;
  }
  const texts = {
    json: () => renderJson(document),
    csv: () => monthCsv(found),
    html: () => monthPage(whose, found),
  };
  const text = texts[format ?? "json"]();
  if (out === undefined) {
    return text;
  }
  await writeFile(out, text, { flag: "wx", mode: 0o600 });
  return { file: out };
}

/** Writes the file, or leaves none. Returns how many lines it has. */
async function writeStatement(
  core: Transport,
  accountId: string,
  {
    from,
    to = new Date(Math.floor(Date.now() / dayMs) * dayMs),
    out,
  }: { readonly from: Date; readonly to?: Date | undefined; readonly out: string },
  io: Io,
): Promise<number> {
  keepYoungSpaceSmall(); // nothing survives but what is loaded by now
  const request = { accountId, from: timestampFromDate(from), to: timestampFromDate(to) };
  const charges = await countRequests(core, request);
  const answer = createClient(MeteringService, core).streamStatement(request, { timeoutMs });
  const file = await open(out, "wx", 0o600); // what customers used is nobody else's
  try {
    return await whileTelling("the statement", "lines", io, async (report) => {
      let written = 0;
      for await (const { lines } of answer) {
        await file.appendFile(lines.map((line) => `${line}\n`).join(""));
        written += lines.length;
        report(written, Math.max(charges, written));
      }
      await file.sync();
      return written;
    });
  } catch (error) {
    await rm(out, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}
