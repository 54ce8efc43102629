import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import { isMap, parseDocument } from "yaml";
import { parseConfig } from "#src/config/load.ts";
import { configSchema } from "#src/config/schema.ts";

const folder = fileURLToPath(new URL("../../", import.meta.url));
/** All but the page for client developers, which configures other programs. */
const pages = [
  "README.md",
  ...(await readdir(`${folder}docs`))
    .filter((name) => name.endsWith(".md") && name !== "clients.md")
    .map((name) => `docs/${name}`),
];
const sections: readonly string[] = Object.keys(configSchema.shape);

/** The blocks of a page that are configurations of ours: every one of their fields is a section of it. */
async function examplesIn(page: string): Promise<string[]> {
  const blocks = (await readFile(folder + page, "utf8")).matchAll(/```yaml\n(.*?)```/gs);
  return Array.from(blocks, ([, block = ""]) => block).filter((block) => {
    const { contents } = parseDocument(block);
    return isMap(contents) && contents.items.some(({ key }) => sections.includes(String(key)));
  });
}

const examples = await Promise.all(
  pages.map(async (page) => (await examplesIn(page)).map((block, index) => [`${page} ${index + 1}`, block] as const)),
);

test.each(examples.flat())("the configuration in %s loads", (name, block) => {
  expect(() => parseConfig(block, name)).not.toThrow();
});

test("engines.md has an example for every engine that a configuration names", async () => {
  const page = await readFile(`${folder}docs/engines.md`, "utf8");
  for (const engine of configSchema.shape.models.unwrap().element.shape.servers.element.shape.engine.unwrap().options) {
    if (engine !== "simulator") {
      expect(page).toContain(`engine: ${engine}`);
    }
  }
});
