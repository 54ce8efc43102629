import type { Command } from "commander";
import type { FacadeOptions } from "#src/compose/options.ts";
import { coreTarget } from "../shared/arguments.ts";
import { addTlsOptions } from "../shared/tls-options.ts";
import { logOption } from "./log-option.ts";

/** `tollgate facade` */
export function addFacade(program: Command): void {
  const command = program
    .command("facade")
    .description("run the public surfaces alone, in front of cores")
    .requiredOption("--core <target>", "the cores: host:port, dns:///host:port or ipv4:host:port,host:port", coreTarget)
    .option("--config <file>", "the configuration file, for where to listen")
    .addOption(logOption());
  addTlsOptions(command).action(async (options: FacadeOptions) =>
    (await import("#src/compose/index.ts")).facade(options),
  );
}
