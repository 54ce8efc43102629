import type { Command } from "commander";
import { renderJson, renderText } from "../admin/output/render.ts";
import type { Io } from "../shared/io.ts";
import type { Finding } from "./finding.ts";
import type { ServerFinding } from "./findings/servers.ts";

/** `tollgate check` */
export function addCheck(program: Command, io: Io): void {
  program
    .command("check")
    .description("validate a configuration, reach every part that it names, and tell what is wrong")
    .requiredOption("--config <file>", "the configuration file")
    .option("--json", "print one JSON document")
    .option("--wide", "print whole cells, however wide the table; 100 characters unless set")
    .action(async ({ config, json, wide }: { config: string; json?: boolean; wide?: boolean }) => {
      const { check } = await import("./check.ts");
      const findings = (await check(config, io.environment)).map((finding) => ({ ...finding }));
      if (json) {
        io.print(renderJson(findings));
      } else {
        for (const block of [renderText(findings, { wide }), ...findings.flatMap(toDetails)]) {
          io.print(block);
        }
      }
      const wrong = findings.filter((finding) => finding.status === "wrong").length;
      if (wrong > 0) {
        throw new Error(`${wrong} of ${findings.length} parts have to be mended`);
      }
    });
}

/** All remarks about a server that is not ok, and the command to start it. */
function toDetails(finding: Finding | ServerFinding): string[] {
  if (finding.status === "ok" || !("remarks" in finding)) {
    return [];
  }
  const { part, engine, version, facts, remarks, start } = finding;
  const title = `\n${part}: ${engine}${version === null ? "" : ` ${version}`}`;
  const told = facts.map(({ name, value }) => `${name} ${value}`).join(" · ");
  const lines = [
    ...(told === "" ? [] : [told]),
    ...remarks.map(({ status, message }) => `${status}: ${message}`),
    ...(start === null ? [] : ["start it with", ...start.split("\n").map((line) => `  ${line}`)]),
  ];
  return [[title, ...lines.map((line) => `  ${line}`)].join("\n")];
}
