import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import { generated } from "../../scripts/docs/generate.ts";
import { withGenerated } from "../../scripts/docs/markdown.ts";

const read = (name: string) => readFile(fileURLToPath(new URL(`../../${name}`, import.meta.url)), "utf8");

test.each(Object.entries(generated))("%s is fresh: npm run generate", async (name, make) => {
  const committed = await read(name);
  expect(committed).toBe(make(committed));
});

test("a page keeps what people wrote around its generated part", () => {
  const page = "a\n<!-- generated: npm run generate -->\nold\n<!-- end of what is generated -->\nz\n";
  const fresh = withGenerated(page, "new");
  expect(fresh.split("\n").filter((line) => !line.startsWith("<!--"))).toEqual(["a", "", "new", "", "z", ""]);
  expect(fresh).not.toContain("old");
  expect(() => withGenerated("a page without marks", "new")).toThrow("has no");
});
