import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { failedFiles } from "../../scripts/failed-files.ts";

test("the files that failed are read from jest's report; without one there are none", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-report-"));
  const report = join(folder, "report.json");
  expect(await failedFiles(report, folder)).toEqual([]);
  const testResults = ["passed", "failed", "failed"].map((status, at) => ({
    name: join(folder, "test", `${at}.ts`),
    status,
  }));
  await writeFile(report, JSON.stringify({ testResults }));
  expect(await failedFiles(report, folder)).toEqual(["test/1.ts", "test/2.ts"]);
  await rm(folder, { recursive: true });
});
