import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Simulator, startSimulator } from "../../../simulator/server.ts";
import { openStage, type Stage } from "../stage/stage.ts";
import { longWord } from "./judge.ts";
import { walkNarrow } from "./narrow-life.ts";

// A Tollgate of its own, whose model and server have long names, too.

const model = `tollgate-sim/${longWord}`;
let engine: Simulator;
let stage: Stage;
beforeAll(async () => {
  engine = await startSimulator({ models: [model], speed: 0 });
  const servers = [
    { url: engine.url, engine: "vllm" },
    { url: `http://127.0.0.1:9/${longWord}`, engine: "vllm" },
  ];
  stage = await openStage({ config: { models: [{ id: model, servers }] } });
}, 120_000);
afterAll(async () => {
  await stage.close();
  await engine.close();
});

test("no page is wider than a window of 360 pixels, nor hides what can be done with a row, whatever things are called", async () => {
  const { paths, faults } = await walkNarrow(stage, model);
  expect(faults).toEqual([]);
  const opened = paths.map((path) => path.split("?")[0] ?? "");
  const routes = await readRoutes();
  expect(routes.length).toBeGreaterThan(10);
  expect(routes.filter((route) => !opened.some((path) => path.startsWith(route)))).toEqual([]);
  expect(stage.complaints).toEqual([]);
}, 240_000);

/** The path of every route; of those of one thing its beginning. */
async function readRoutes(): Promise<readonly string[]> {
  const source = await readFile(new URL("../../../console/app/routes.ts", import.meta.url), "utf8");
  const calls = source.matchAll(/page\(\s*"([^"]+)",\s*\(\) => import\([^)]*\)([^)]*)\)/g);
  return [...calls].map(([, path = "", options = ""]) => (options.includes("hasId: true") ? `${path}/` : path));
}
