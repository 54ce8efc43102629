// Runs Tollgate before real inference servers with a model that it makes: `npm run test:engines [-- ENGINE… --row ROW --record]`.
// The table of what holds goes to docs/engines.md; an engine that the machine cannot have is there with the reason.
// `--row` runs one row alone and leaves what is known of the others; `--record` keeps the engines' bytes for the tests that replay them.
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { absent } from "./absent.ts";
import { readColumns, writeColumn } from "./columns.ts";
import type { RealEngine } from "./engine.ts";
import { llamaCpp } from "./engines/llama-cpp/engine.ts";
import { ollama } from "./engines/ollama/engine.ts";
import { transformers } from "./engines/transformers/engine.ts";
import { vllm } from "./engines/vllm/engine.ts";
import { writeModels } from "./model/write-models.ts";
import { rows } from "./rows/all.ts";
import { runMatrix } from "./run-matrix.ts";
import { type Column, toTable, writeTable } from "./table.ts";
import { Unavailable } from "./unavailable.ts";

const engines: Readonly<Record<string, RealEngine>> = { "llama-cpp": llamaCpp, ollama, transformers, vllm };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { record: { type: "boolean" }, row: { type: "string", multiple: true } },
});
const unknown = positionals.filter((name) => engines[name] === undefined);
if (unknown.length > 0) {
  console.error(`no such engine: ${unknown.join(", ")}; there are ${Object.keys(engines).join(", ")}`);
  process.exit(2);
}

const chosen = values.row === undefined ? rows : rows.filter((row) => values.row?.includes(row.name));

const models = writeModels();
for (const name of positionals.length > 0 ? positionals : Object.keys(engines)) {
  const driver = engines[name] as RealEngine;
  console.log(`${driver.title} ${driver.version}`);
  writeColumn(name, await tryEngine(name, driver));
}
const columns = readColumns(Object.keys(engines));
const names = rows.map((row) => row.name);
writeTable(fileURLToPath(new URL("../../docs/engines.md", import.meta.url)), toTable([...columns, ...absent], names));
process.exitCode = columns.some(({ outcomes }) => typeof outcomes !== "string" && Object.values(outcomes).some(isBad))
  ? 1
  : 0;

async function tryEngine(name: string, driver: RealEngine): Promise<Column> {
  const { title, version } = driver;
  try {
    await driver.install();
    const outcomes = await runMatrix(name, driver, models, { record: values.record === true, rows: chosen });
    const [known] = readColumns([name]);
    const others = values.row !== undefined && known?.version === version ? known.outcomes : {};
    return { title, version, outcomes: typeof others === "string" ? outcomes : { ...others, ...outcomes } };
  } catch (error) {
    if (!(error instanceof Unavailable)) {
      throw error;
    }
    console.log(`  ${error.message}`);
    return { title, version, outcomes: error.message };
  }
}

function isBad(outcome: string): boolean {
  return !outcome.startsWith("ok") && !outcome.startsWith("none:");
}
