import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const pages = globSync(["*.md", "docs/**/*.md"], { cwd: root });
const read = (page: string) => readFileSync(join(root, page), "utf8");

/** Names that headings get when the page is shown. */
const anchorsOf = (page: string) =>
  [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );

test.each(pages)("every link of %s leads somewhere", (page) => {
  for (const [, target = ""] of read(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
    const [path = "", anchor] = target.split("#");
    const file = path === "" ? page : join(dirname(page), path);
    expect({ target, exists: existsSync(join(root, file)) }).toEqual({ target, exists: true });
    if (anchor !== undefined && statSync(join(root, file)).isFile()) expect(anchorsOf(file)).toContain(anchor);
  }
});

test("the README leads to every page", () => {
  const readme = read("README.md");
  const missing = pages.filter(
    (page) => page !== "README.md" && !readme.includes(`](${page.replace(/\/README\.md$/, "")}`),
  );
  expect(missing).toEqual([]);
});
