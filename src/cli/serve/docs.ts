import type { Command } from "commander";
import type { DocumentationOptions } from "#src/compose/index.ts";
import { logOption } from "./log-option.ts";

/** `tollgate docs` */
export function addDocs(program: Command): void {
  program
    .command("docs")
    .description("serve this documentation, with search, to a browser")
    .option("--listen <address>", "where", "127.0.0.1:8090")
    .addOption(logOption())
    .action(async (options: DocumentationOptions) => (await import("#src/compose/index.ts")).documentation(options));
}
