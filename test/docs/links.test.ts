import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import { toAnchor } from "../../scripts/docs/site/anchor.js";
import { listPages } from "../../scripts/docs/site/stage.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const pages = listPages(root);
const read = (page: string) => readFileSync(join(root, page), "utf8");

/** Names that headings get when the page is shown. */
const anchorsOf = (page: string) =>
  [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => toAnchor(heading));

test.each([...pages, ...globSync("src/**/*.md", { cwd: root })])("every link of %s leads somewhere", (page) => {
  for (const [, target = ""] of read(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
    const [path = "", anchor] = target.split("#");
    const file = path === "" ? page : join(dirname(page), path);
    expect({ target, exists: existsSync(join(root, file)) }).toEqual({ target, exists: true });
    if (anchor !== undefined && statSync(join(root, file)).isFile()) {
      expect(anchorsOf(file)).toContain(anchor);
    }
  }
});

test("the README leads to every page, or to the index of its folder", () => {
  const links = (from: string, page: string) => read(from).includes(`](${relative(dirname(from), page)}`);
  const isReached = (page: string) => {
    const index = join(dirname(page), "README.md");
    return links("README.md", page.replace(/\/README\.md$/, "")) || (pages.includes(index) && links(index, page));
  };
  expect(pages.filter((page) => page !== "README.md" && !isReached(page))).toEqual([]);
});

/** Tests as a page names them, without their folder and ending: `money/ledger/ledger`. */
const namedTests = (page: string) =>
  [...read(page).matchAll(/`([a-z-]+(?:\/[a-z0-9-]+)+)`/g)]
    .map(([, name = ""]) => name)
    .filter((name) => existsSync(join(root, "test", name.split("/")[0] ?? "")));

test.each([
  ["docs/proof.md", 40],
  ["docs/money.md", 25],
])("every test that %s names is there", (page, least) => {
  const names = namedTests(page);
  expect(names.length).toBeGreaterThan(least);
  expect(names.filter((name) => !existsSync(join(root, "test", `${name}.test.ts`)))).toEqual([]);
});

test("each promise of money names the tests that show it", () => {
  const [, table = ""] = /\n(\| promise [\s\S]*?)\n\n/.exec(read("docs/money.md")) ?? [];
  const [, , ...promises] = table.split("\n");
  expect(promises.length).toBeGreaterThan(6);
  expect(promises.filter((row) => !/\| `[a-z/-]+`(, `[a-z/-]+`)* +\|$/.test(row))).toEqual([]);
});

test("each section of what money promises names its tests", () => {
  const [, ...sections] = read("docs/money.md").split(/^## /m);
  const unshown = sections.filter((text) => !/\n\nShown by `[^`]+\/[^`]+`[^\n]*(\n[^\n]+)*\n*$/.test(text));
  expect(unshown.map((text) => text.split("\n")[0])).toEqual([]);
});
