import type { Command } from "commander";
import { effectiveConfig } from "#src/config/effective.ts";
import { configJsonSchema } from "#src/config/json-schema.ts";
import { renderJson, renderText } from "../admin/output/render.ts";
import type { Io } from "./io.ts";

/** `tollgate config …` */
export function addConfig(program: Command, io: Io): void {
  const group = program.command("config").description("the configuration");
  group
    .command("print")
    .description("print every value that a start would use and where it came from, with secrets hidden")
    .option("--config <file>", "the configuration file; the defaults unless set")
    .option("--json", "print one JSON document")
    .option("--wide", "print whole cells, however wide the table; 100 characters unless set")
    .action(async ({ config, json, wide }: { config?: string; json?: boolean; wide?: boolean }) => {
      const settings = (await effectiveConfig(config, io.environment)).map((setting) => ({ ...setting }));
      io.print(json ? renderJson(settings) : renderText(settings, { wide }));
    });
  group
    .command("schema")
    .description("print the JSON Schema of a configuration file, for editors")
    .action(() => io.print(JSON.stringify(configJsonSchema(), undefined, 2)));
}
