import { readdirSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { engineNames, engineTransports, simulatedNames } from "#lib/inference/engine-names.ts";
import { findDriver, registry } from "#src/fleet/engines/drivers/registry.ts";
import { dialects } from "../../../../simulator/dialects/dialects.ts";

/** What serves all engines. */
const neutral = new Set(["drivers", "shared"]);
const engines = new URL("../../../../src/fleet/engines/", import.meta.url);
const folders = readdirSync(engines, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !neutral.has(entry.name))
  .map(({ name }) => name);

test.each(folders)("src/fleet/engines/%s is an engine that the registry knows", async (folder) => {
  const { driver } = await import(new URL(`${folder}/driver.ts`, engines).href);
  const embedded = findDriver({ url: "file:///m.gguf", engine: "llama.cpp" });
  expect([...Object.values(registry), embedded]).toContain(driver);
});

test.each(engineNames)("%s is driven over what its name says", (name) => {
  expect(registry[name].transport).toBe(engineTransports[name]);
});

test("no two engines are known by the same sign", () => {
  const known = engineNames.flatMap((name) => registry[name].detect ?? []);
  for (const sign of ["port", "owner", "call"] as const) {
    const told = known.flatMap((one) => (one[sign] === undefined ? [] : [JSON.stringify(one[sign])]));
    expect(new Set(told).size).toBe(told.length);
  }
});

test("every simulated engine has a dialect of the simulator", () => {
  expect(Object.keys(dialects)).toEqual(expect.arrayContaining([...simulatedNames]));
});
