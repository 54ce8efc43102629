import type { Command } from "commander";
import type { ServeOptions } from "#src/compose/options.ts";
import { basePort, serverUrls } from "../shared/arguments.ts";
import { logOption } from "./log-option.ts";

/** `tollgate serve` */
export function addServe(program: Command): void {
  program
    .command("serve")
    .description("start Tollgate: API, console and storage in one process; the default command")
    .option("--config <file>", "the configuration file")
    .option(
      "--server <url>",
      "serve the models that this inference server lists; may be given several times",
      serverUrls,
    )
    .option("--gguf <file>", "serve this model file in process")
    .option(
      "--port <port>",
      "where the listeners begin: HTTP there unless its port is shared, then console, gRPC, Connect, admin, webhooks",
      basePort,
    )
    .option("--no-console", "leave the console out")
    .addOption(logOption())
    .action(async (options: ServeOptions) => (await import("#src/compose/index.ts")).serve(options));
}
