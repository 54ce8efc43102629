import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { announceReady } from "#src/compose/process/announce.ts";
import { runningFile } from "#src/config/data-dir/running-core.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { eventually } from "../../support/eventually.ts";
import { silentLogger } from "../../support/loggers.ts";

test("where running.json cannot be written that is said once, and it is written once it can", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-announce-"));
  const dataDir = join(folder, "data");
  writeFileSync(dataDir, "in the way");
  const clock = new ManualClock();
  const lines: string[] = [];
  const logger = { ...silentLogger, warn: (_: object, message: string) => void lines.push(message) };
  const ready: object[] = [];
  const lifecycle = { ready: (facts: object) => void ready.push(facts) };
  await announceReady(lifecycle, logger, dataDir, { grpc: "127.0.0.1:1" }, undefined, clock);
  expect(ready).toHaveLength(1);
  await clock.pass(30_000);
  rmSync(dataDir);
  mkdirSync(dataDir);
  await eventually("it is written", async () => {
    await clock.pass(10_000);
    return readable(dataDir);
  });
  expect(JSON.parse(readFileSync(runningFile(dataDir), "utf8"))).toMatchObject({ grpc: "127.0.0.1:1" });
  expect(lines).toEqual(["the command line has to be given --core: running.json cannot be written"]);
  rmSync(folder, { recursive: true });
});

function readable(dataDir: string): boolean {
  try {
    return readFileSync(runningFile(dataDir)).length > 0;
  } catch {
    return false;
  }
}
