import { existsSync } from "node:fs";
import { open } from "node:fs/promises";
import type { Command } from "commander";
import { keepYoungSpaceSmall } from "#lib/overload/young-space.ts";
import { StatementCheck } from "#src/money/books/bill/check/check-statement.ts";
import { Misfit } from "#src/money/books/bill/check/misfit.ts";
import type { Io } from "../shared/io.ts";

/** `tollgate verify` */
export function addVerify(program: Command, io: Io): void {
  program
    .command("verify <file>")
    .description("prove a statement without a service: each cost, each balance, and that sealed days are whole")
    .action(async (path: string) => io.print(await verify(path)));
}

/** A line of sums. Throws a Misfit that names the first line that does not fit. */
export async function verify(path: string): Promise<string> {
  keepYoungSpaceSmall(); // nothing survives but what is loaded by now
  if (!existsSync(path)) {
    throw new Error(`there is no file ${path}`);
  }
  const file = await open(path);
  const check = new StatementCheck();
  let line = 0;
  try {
    for await (const text of file.readLines()) {
      line++;
      check.add(text);
    }
    line++;
    return check.finish();
  } catch (error) {
    throw error instanceof Misfit ? new Misfit(`line ${line}: ${error.message}`) : error;
  } finally {
    await file.close();
  }
}
