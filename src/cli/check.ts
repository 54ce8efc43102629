import type { Command } from "commander";
import type { Io } from "./io.ts";
import { renderJson, renderText } from "./render.ts";

/** `tollgate check` */
export function addCheck(program: Command, io: Io): void {
  program
    .command("check")
    .description("validate a configuration, reach every part that it names, and tell what is wrong")
    .requiredOption("--config <file>", "the configuration file")
    .option("--json", "print one JSON document")
    .action(async ({ config, json }: { config: string; json?: boolean }) => {
      const { check } = await import("./check/check.ts");
      const findings = (await check(config, io.environment)).map((finding) => ({ ...finding }));
      io.print(json ? renderJson(findings) : renderText(findings));
      const wrong = findings.filter((finding) => finding.status === "wrong").length;
      if (wrong > 0) throw new Error(`${wrong} of ${findings.length} parts have to be mended`);
    });
}
