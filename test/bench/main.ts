import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Options, parseOptions, usageText } from "./arguments.ts";
import { scenarios } from "./registry.ts";
import { judge, judgeFigures } from "./report/budgets.ts";
import { compare } from "./report/compare.ts";
import {
  changeTable,
  figureTable,
  machine,
  type Report,
  readReport,
  resultTable,
  verdictTable,
  writeReport,
} from "./report/report.ts";
import type { Result } from "./report/summary.ts";
import { raw } from "./run.ts";
import type { Figure } from "./scenario.ts";
import type { System } from "./systems/interface.ts";
import { passThrough } from "./systems/pass-through.ts";
import { peer } from "./systems/peer.ts";
import { tollgate } from "./systems/tollgate.ts";
import { tollgateReplicas } from "./systems/tollgate-replicas.ts";
import { tollgateScaledOut } from "./systems/tollgate-scaled-out.ts";
import { tollgateSplit } from "./systems/tollgate-split.ts";

/** The systems that take part in a scenario. */
function systemsOf(names: readonly string[], options: Options): System[] {
  const known = [passThrough, tollgate, tollgateSplit, tollgateScaledOut, tollgateReplicas(1), tollgateReplicas(2)];
  const all = known.filter(
    ({ name }) =>
      names.includes(name) && (name === raw || options.systems.length === 0 || options.systems.includes(name)),
  );
  return options.peer ? [...all, peer(options.peer)] : all;
}

async function main(options: Options): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-bench-"));
  const progress = (line: string) => process.stderr.write(`${line}\n`);
  const chosen = scenarios.filter(({ name, onlyNamed }) =>
    options.scenarios.length === 0 ? !onlyNamed : options.scenarios.includes(name),
  );
  const results: Result[] = [];
  const figures: Figure[] = [];
  const notes: string[] = [];
  const plots = new Map<string, string>();
  for (const scenario of chosen) {
    const own = join(directory, scenario.name);
    mkdirSync(own);
    const systems = (names: readonly string[]) => systemsOf(names, options);
    const found = await scenario.run({ options, directory: own, systems, progress });
    results.push(...(found.results ?? []));
    figures.push(...(found.figures ?? []));
    notes.push(...(found.notes ?? []));
    for (const [name, svg] of found.plots ?? []) {
      plots.set(name, svg);
    }
  }
  // Kept when a run fails: the systems' logs are in it.
  rmSync(directory, { recursive: true });

  const report: Report = {
    date: new Date().toISOString(),
    machine: machine(),
    rounds: options.rounds,
    seconds: options.duration / 1000,
    results,
    figures,
    verdicts: [...judge(results), ...judgeFigures(figures)],
    notes,
  };
  if (options.json) {
    console.log(JSON.stringify(report));
  } else {
    print(report, options);
  }
  if (options.out !== undefined) {
    writeReport(options.out, options.scenarios.join("-") || "all", report, plots);
  }
}

function print(report: Report, { against }: Options): void {
  console.log([report.machine, ...(report.notes ?? [])].join("\n"));
  if (report.results.length > 0) {
    console.log(`\n${resultTable(report.results)}`);
  }
  if (report.figures.length > 0) {
    console.log(`\n${figureTable(report.figures)}`);
  }
  if (report.verdicts.length > 0) {
    console.log(`\n${verdictTable(report.verdicts)}`);
  }
  if (against !== undefined) {
    console.log(`\n${changeTable(compare(readReport(against), report, 0.05))}`);
  }
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
