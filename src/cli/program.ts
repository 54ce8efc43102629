import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { ConfigError } from "../config/config-error.ts";
import { addAccounts } from "./admin/accounts.ts";
import { addCharges } from "./admin/charges.ts";
import { addKeys } from "./admin/keys.ts";
import { addOperators } from "./admin/operators.ts";
import { addPrices } from "./admin/prices.ts";
import { addReceipt } from "./admin/receipt.ts";
import { addReconcile } from "./admin/reconcile.ts";
import { addServers } from "./admin/servers.ts";
import { addUsage } from "./admin/usage.ts";
import { addCheck } from "./check/command.ts";
import { addMigrateStorage } from "./migrate/command.ts";
import { addCore } from "./serve/core.ts";
import { addFacade } from "./serve/facade.ts";
import { addServe } from "./serve/serve.ts";
import { addConfig } from "./shared/config.ts";
import type { Io } from "./shared/io.ts";
import { addSim } from "./sim/sim.ts";

/** Runs a command line, without the program's name. Returns the exit code: 0 only on success. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  try {
    await createProgram(io).parseAsync(withCommand(args), { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) {
      return error.exitCode; // it has said why
    }
    // Its lines begin with file and line, where editors and people look for them.
    io.note(error instanceof ConfigError ? error.message : `tollgate: ${reasonOf(error)}`);
    return 1;
  }
}

/** Options alone are those of `serve`; a word that is no command is refused as such. */
function withCommand(args: readonly string[]): readonly string[] {
  const [first = "--"] = args;
  const isAnswered = ["--help", "-h", "--version", "-V"].includes(first);
  return first.startsWith("-") && !isAnswered ? ["serve", ...args] : args;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) {
    return String(error);
  }
  const { code, address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  if (code === "EADDRINUSE") {
    return `${address}:${port} is taken by another process: end that one, or listen elsewhere`;
  }
  const { message, cause } = error;
  return cause instanceof Error && !message.includes(cause.message) ? `${message} (${cause.message})` : message;
}

/** The whole command line. */
export function createProgram(io: Io): Command {
  const program = new Command("tollgate")
    .description("A metered proxy for open-source models.")
    .version(versionOf(new URL("../../package.json", import.meta.url)))
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.print(text.trimEnd()),
      writeErr: (text) => io.note(text.trimEnd()),
    });
  addServe(program);
  addCore(program);
  addFacade(program);
  addSim(program);
  addCheck(program, io);
  addConfig(program, io);
  addAccounts(program, io);
  addKeys(program, io);
  addPrices(program, io);
  addUsage(program, io);
  addReceipt(program, io);
  addCharges(program, io);
  addReconcile(program, io);
  addServers(program, io);
  addOperators(program, io);
  addMigrateStorage(program, io);
  return program;
}

function versionOf(manifest: URL): string {
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
}
