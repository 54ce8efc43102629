import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Options, parseOptions, usageText } from "./arguments.ts";
import { judge } from "./budgets.ts";
import { compare } from "./compare.ts";
import { changeTable, machine, type Report, readReport, resultTable, verdictTable, writeReport } from "./report.ts";
import { RAW, run } from "./run.ts";
import { scenarios } from "./scenarios.ts";
import type { Result } from "./summary.ts";
import type { System } from "./systems/interface.ts";
import { passThrough } from "./systems/pass-through.ts";
import { peer } from "./systems/peer.ts";
import { tollgate } from "./systems/tollgate.ts";
import { tollgateSplit } from "./systems/tollgate-split.ts";

/** The systems that take part in a scenario. */
function systemsOf(names: readonly string[], options: Options): System[] {
  const all = [passThrough, tollgate, tollgateSplit].filter(
    ({ name }) =>
      names.includes(name) && (name === RAW || options.systems.length === 0 || options.systems.includes(name)),
  );
  return options.peer ? [...all, peer(options.peer)] : all;
}

async function main(options: Options): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-bench-"));
  const progress = (line: string) => process.stderr.write(`${line}\n`);
  const chosen = Object.entries(scenarios(options.quick, options.duration)).filter(
    ([name]) => options.scenarios.length === 0 || options.scenarios.includes(name),
  );
  const results: Result[] = [];
  for (const [name, scenario] of chosen)
    results.push(
      ...(await run(scenario, options, {
        systems: systemsOf(scenario.systems, options),
        directory: join(directory, name),
        progress,
      })),
    );
  // Kept when a run fails: the systems' logs are in it.
  rmSync(directory, { recursive: true });

  const report: Report = {
    date: new Date().toISOString(),
    machine: machine(),
    rounds: options.rounds,
    seconds: options.duration / 1000,
    results,
    verdicts: judge(results),
  };
  console.log(`${report.machine}\n\n${resultTable(results)}`);
  if (report.verdicts.length > 0) console.log(`\n${verdictTable(report.verdicts)}`);
  if (options.against !== undefined)
    console.log(`\n${changeTable(compare(readReport(options.against).results, results, 0.05))}`);
  if (options.out !== undefined) writeReport(options.out, options.scenarios.join("-") || "all", report);
}

function fail(error: unknown, help = ""): never {
  console.error(error instanceof Error ? error.message : error, help);
  process.exit(1);
}

let options: Options;
try {
  options = parseOptions(process.argv.slice(2));
} catch (error) {
  fail(error, `\n\n${usageText}`);
}
await main(options).catch(fail);
