import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { grievances } from "./output.ts";

test("finds errors and what Node says, and counts them", async () => {
  const directory = await mkdtemp(join(tmpdir(), "tollgate-output-"));
  const file = join(directory, "log");
  const lines = [
    '{"level":30,"msg":"tollgate ready"}',
    '{"level":50,"msg":"internal error","err":{"message":"why"}}',
    '{"level":50,"msg":"internal error","err":{"message":"why"}}',
    '{"level":60,"msg":"gone"}',
    "(node:1) MaxListenersExceededWarning: Possible EventTarget memory leak detected.",
    "",
  ];
  try {
    await writeFile(file, lines.join("\n"));
    expect([...(await grievances(file))]).toEqual([
      ["internal error why", 2],
      ["gone", 1],
      [lines[4], 1],
    ]);
  } finally {
    await rm(directory, { recursive: true });
  }
});
