// Runs Tollgate before real inference servers with a model that it makes: `npm run test:engines [-- ENGINE… --row ROW --record]`.
// It installs the engines that are named, or all, and ends with 1 when a row of this run does not hold or an engine that was
// named cannot be had. `--row` runs these rows alone. `--record` writes what came of it to docs/engines.md, where the other
// rows and engines keep what is known of them, and keeps the engines' bytes for the tests that replay them.
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { absent } from "./absent.ts";
import { readColumns, writeColumn } from "./columns.ts";
import type { RealEngine } from "./engine.ts";
import { dasllama } from "./engines/dasllama/engine.ts";
import { llamaCpp } from "./engines/llama-cpp/engine.ts";
import { mlx } from "./engines/mlx/engine.ts";
import { ollama } from "./engines/ollama/engine.ts";
import { transformers } from "./engines/transformers/engine.ts";
import { vllm } from "./engines/vllm/engine.ts";
import { writeModels } from "./model/write-models.ts";
import { rows } from "./rows/all.ts";
import { runMatrix } from "./run-matrix.ts";
import { type Column, isGood, toTable, writeTable } from "./table.ts";
import { Unavailable } from "./unavailable.ts";

const engines: Readonly<Record<string, RealEngine>> = {
  "llama-cpp": llamaCpp,
  ollama,
  transformers,
  vllm,
  mlx,
  dasllama,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { record: { type: "boolean", default: false }, row: { type: "string", multiple: true } },
});
const names = rows.map((row) => row.name);
demandKnown("engine", positionals, Object.keys(engines));
demandKnown("row", values.row ?? [], names);
const chosen = rows.filter(({ name }) => values.row?.includes(name) ?? true);

const models = writeModels();
for (const name of positionals.length > 0 ? positionals : Object.keys(engines)) {
  const driver = engines[name] as RealEngine;
  console.log(`${driver.title} ${driver.version}`);
  const outcomes = await tryEngine(name, driver);
  const holds = typeof outcomes === "string" ? positionals.length === 0 : Object.values(outcomes).every(isGood);
  process.exitCode = holds ? process.exitCode : 1;
  if (values.record) {
    record(name, driver, outcomes);
  }
}
if (values.record) {
  const page = fileURLToPath(new URL("../../docs/engines.md", import.meta.url));
  writeTable(page, toTable([...readColumns(Object.keys(engines)), ...absent], names));
}

async function tryEngine(name: string, driver: RealEngine): Promise<Column["outcomes"]> {
  try {
    await driver.install();
    return await runMatrix(name, driver, models, { record: values.record, rows: chosen });
  } catch (error) {
    if (!(error instanceof Unavailable)) {
      throw error;
    }
    console.log(`  ${error.message}`);
    return error.message;
  }
}

/** Keeps what came of an engine. One that this machine cannot have keeps what another found. */
function record(name: string, { title, version }: RealEngine, outcomes: Column["outcomes"]): void {
  const [known] = readColumns([name]);
  if (typeof outcomes === "string") {
    if (known === undefined) {
      writeColumn(name, { title, version, outcomes });
    }
    return;
  }
  const others = values.row !== undefined && known?.version === version ? known.outcomes : {};
  writeColumn(name, { title, version, outcomes: typeof others === "string" ? outcomes : { ...others, ...outcomes } });
}

function demandKnown(what: string, given: readonly string[], known: readonly string[]): void {
  const unknown = given.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    console.error(`no such ${what}: ${unknown.join(", ")}; there are ${known.join(", ")}`);
    process.exit(2);
  }
}
