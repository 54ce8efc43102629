import { open, rm } from "node:fs/promises";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createClient, type Transport } from "@connectrpc/connect";
import type { Command } from "commander";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { keepYoungSpaceSmall } from "#lib/overload/young-space.ts";
import { moment } from "../../shared/arguments.ts";
import type { Io } from "../../shared/io.ts";
import { whileTelling } from "../../shared/progress.ts";
import { addQuestion } from "../ask-core.ts";
import { countRequests } from "./export/usage.ts";

/** The core may take this long with the largest account, because people see the progress. In milliseconds. */
const timeoutMs = 3_600_000;
const dayMs = 86_400_000;

interface StatementOptions {
  readonly from: Date;
  readonly to?: Date;
  readonly out: string;
}

/** `tollgate statement` */
export function addStatement(program: Command, io: Io): void {
  addQuestion<[string], StatementOptions>(program, "statement <account>", io, {
    description: "write an account's balances and every movement of its money to a file that `verify` proves",
    tellsProgress: true,
    options: (command) =>
      command
        .requiredOption("--from <time>", "the first UTC day, such as 2026-01-01", moment)
        .option("--to <time>", "the day after the last one; the current day unless set", moment)
        .requiredOption("--out <file>", "the file to write, of JSON lines; it must not be there yet"),
    ask: async (core, options, accountId) => ({
      file: options.out,
      lines: await writeStatement(core, accountId, options, io),
    }),
  });
}

/** Writes the file, or leaves none. Returns how many lines it has. */
async function writeStatement(
  core: Transport,
  accountId: string,
  { from, to = new Date(Math.floor(Date.now() / dayMs) * dayMs), out }: StatementOptions,
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
