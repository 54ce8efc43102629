import { Command, CommanderError } from "commander";
import { addAccounts } from "./accounts.ts";
import type { Io } from "./io.ts";
import { addKeys } from "./keys.ts";
import { addPrices } from "./prices.ts";
import { addReceipt } from "./receipt.ts";
import { addReconcile } from "./reconcile.ts";
import { addServers } from "./servers.ts";
import { addUsage } from "./usage.ts";

/** Runs a command line, without the program's name. Returns the exit code: 0 only on success. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  try {
    await createProgram(io).parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode; // it has said why
    io.note(`tollgate: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
}

function createProgram(io: Io): Command {
  const program = new Command("tollgate")
    .description("A metered proxy for open-source models.")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.print(text.trimEnd()),
      writeErr: (text) => io.note(text.trimEnd()),
    });
  addAccounts(program, io);
  addKeys(program, io);
  addPrices(program, io);
  addUsage(program, io);
  addReceipt(program, io);
  addReconcile(program, io);
  addServers(program, io);
  return program;
}
