import { createRequire } from "node:module";
import { expect, test } from "@jest/globals";
import type { Logger } from "../../../lib/logger.ts";
import { WorkerPool } from "../../../src/compose/workers/pool.ts";

const stubborn = createRequire(import.meta.url).resolve("./stubborn.ts");

test("a worker that does not end within its grace is killed", async () => {
  const lines: string[] = [];
  const log = (_: object, text: string) => lines.push(text);
  const logger = { info: log, warn: log, error: log } as unknown as Logger;
  const pool = new WorkerPool(1, { program: [stubborn], logger });
  await pool.started;
  await pool.stop(0, 50);
  expect(lines).toEqual(["worker ready", "worker did not end: it is killed"]);
});
