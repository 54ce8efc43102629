import { mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import type { Logger } from "#lib/logger.ts";
import { watchDatabaseFile } from "#src/compose/process/database-file.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { isReady, type Readiness } from "#src/telemetry/admin-server.ts";
import { createRegistry } from "#src/telemetry/metrics/registry.ts";
import { eventually } from "../../support/eventually.ts";
import { silentLogger } from "../../support/loggers.ts";

test("a database whose file is moved is told of in the log, in metrics and by not being ready, until it is back", async () => {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-file-"));
  const path = join(directory, "tollgate.db");
  const storage = await openStorage(`sqlite:${path}`);
  const log: string[] = [];
  const note = (fields: object, message: string) => void log.push(`${message} ${Object.values(fields)}`);
  const logger: Logger = { ...silentLogger, warn: note, error: note };
  const readiness: Readiness = { ready: true };
  const registry = createRegistry(readiness);
  const stop = watchDatabaseFile({ storage, logger }, { readiness }, registry);
  const gauges = async () =>
    (await registry.metrics())
      .match(/^tollgate_(ready|database_file_lost) \d$/gm)
      ?.toSorted()
      .join();
  expect(await gauges()).toBe("tollgate_database_file_lost 0,tollgate_ready 1");

  renameSync(path, `${path}.moved`);
  await eventually("the log tells of it", () => log.length === 1);
  expect(log[0]).toBe(`the database's file was moved, replaced or deleted; nothing is stored until it is back ${path}`);
  expect([isReady(readiness), readiness.findFault?.()]).toEqual([false, expect.stringContaining(path)]);
  expect(await gauges()).toBe("tollgate_database_file_lost 1,tollgate_ready 0");

  renameSync(`${path}.moved`, path);
  await eventually("the log tells of that too", () => log.length === 2);
  expect(isReady(readiness)).toBe(true);
  await stop();
  await storage.close();
  rmSync(directory, { recursive: true });
});
