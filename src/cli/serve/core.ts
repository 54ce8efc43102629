import type { Command } from "commander";
import type { CoreOptions } from "#src/compose/options.ts";
import { logOption } from "./log-option.ts";

/** `tollgate core` */
export function addCore(program: Command): void {
  program
    .command("core")
    .description("run the gRPC core alone")
    .requiredOption("--config <file>", "the configuration file")
    .addOption(logOption())
    .action(async (options: CoreOptions) => (await import("#src/compose/index.ts")).core(options));
}
