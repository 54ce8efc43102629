import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { expect, test } from "@jest/globals";
import { loadConfig } from "../../src/config/load.ts";
import { listDeploy, root } from "./files.ts";

const files = await listDeploy("one-machine");
const configs = await Promise.all(files.map((file) => loadConfig(`${root}/deploy/${file}`)));
const [one, other, ...facades] = configs;

test("two cores that serve the same, and two facades", () => {
  expect(files.map((file) => file.replace(/.*\//, ""))).toEqual(
    ["core-1", "core-2", "facade-1", "facade-2"].map((name) => `${name}.yaml`),
  );
  expect(isDeepStrictEqual(one?.models, other?.models)).toBe(true);
  expect(facades.flatMap(({ models }) => models)).toEqual([]);
});

test("no two of them listen on the same address", () => {
  const used = [one, other].flatMap((config) => [config?.listen.grpc, config?.listen.connect, config?.listen.admin]);
  used.push(...facades.flatMap(({ listen }) => [listen.http, listen.admin]));
  expect(new Set(used).size).toBe(used.length);
});

test("the page about it names their addresses", async () => {
  const page = await readFile(`${root}/docs/deployment.md`, "utf8");
  for (const address of [one?.listen.grpc, other?.listen.grpc, ...facades.map(({ listen }) => listen.http)]) {
    expect(page).toContain(String(address));
  }
  for (const file of await listDeploy("")) {
    const folder = file.split("/")[0] ?? "";
    if (!/^(grafana|prometheus|tollgate|healthcheck)/.test(folder) && !folder.endsWith("ignore")) {
      expect(page).toContain(`deploy/${folder}`);
    }
  }
});
