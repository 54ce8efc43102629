import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "yaml";
import { configJsonSchema } from "#src/config/json-schema.ts";
import { parseConfig } from "#src/config/load.ts";

const page = await readFile(fileURLToPath(new URL("../../docs/configuration.md", import.meta.url)), "utf8");
const example = /```yaml\n(.*?)```/s.exec(page)?.[1] ?? "";
const fits = new Ajv2020({ allowUnionTypes: true }).compile(configJsonSchema());

test("the example is a configuration, for a start as for an editor", () => {
  expect(parseConfig(example, "example.yaml").models).toHaveLength(1);
  expect(fits(parse(example))).toBe(true);
});

test.each([
  ["an empty file", {}, true],
  ["amounts with and without quotes", { payments: { minimum_usd: 5, maximum_usd: "1000" } }, true],
  ["an unknown field", { lisen: {} }, false],
  ["a model without servers", { models: [{ id: "one" }] }, false],
  ["an unknown engine", { models: [{ id: "one", servers: [{ url: "http://a", engine: "vlm" }] }] }, false],
])("the schema judges %s", (_, config, expected) => {
  expect(fits(config)).toBe(expected);
});
