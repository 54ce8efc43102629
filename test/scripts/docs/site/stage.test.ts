import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { listPages, rewrite, stage } from "../../../../scripts/docs/site/stage.ts";

// The documentation as its site has it, without the generator, which is not installed here: `npm run docs` builds it.

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "tollgate-docs-"));
beforeAll(() => stage(root, folder));
afterAll(() => rmSync(folder, { recursive: true }));

const toSite = (page: string) => page.replace(/(^|\/)README\.md$/, "$1index.md");

test("every page is there, and its links lead to pages and files of the site", () => {
  const pages = listPages(root);
  expect(pages.length).toBeGreaterThan(30);
  for (const page of pages) {
    const text = readFileSync(join(folder, toSite(page)), "utf8").replace(/^```.*?^```/gms, "");
    const targets = [...text.matchAll(/\]\((\/[^)\s#]*)|\b(?:src|srcset|href)="(\/[^"]*)"/g)];
    for (const target of targets.map(([, link, attribute]) => link ?? attribute ?? "")) {
      const file = join(folder, target.startsWith("/files/") ? "public" : "", target);
      expect({ page, target, exists: existsSync(file) }).toEqual({ page, target, exists: true });
    }
    expect(text).not.toMatch(/\]\((?!\w+:|#|\/)/); // none is left as it was
  }
});

test("the menu has the pages of the README's table, by their headings", () => {
  const menu: { text: string; link: string }[] = JSON.parse(readFileSync(join(folder, "menu.json"), "utf8"));
  expect(menu).toContainEqual({ text: "Deployment", link: "/docs/deployment.md" });
  expect(menu).toContainEqual({ text: expect.any(String), link: "/docs/performance/index.md" });
  expect(menu.length).toBeGreaterThan(15);
});

test.each([
  ["[a](money.md#b)", "[a](/docs/money.md#b)"],
  ["[a](../README.md)", "[a](/index.md)"],
  ["[a](performance)", "[a](/docs/performance/index.md)"],
  ["[the `a`](../proto)", "the `a`"],
  ["![a](images/b.svg)", "![a](/files/docs/images/b.svg)"],
  ['<img src="images/b.svg">', '<img src="/files/docs/images/b.svg">'],
  ["[a](../package.json)", '<a href="/files/package.json" target="_self">a</a>'],
  ["[a](../src/money/README.md)", '<a href="/files/src/money/README.md.txt" target="_self">a</a>'],
  ["[a](https://example.com) [b](#c)", "[a](https://example.com) [b](#c)"],
  ["```\n[a](money.md)\n```\n", "```\n[a](money.md)\n```\n"],
])("%j becomes %j", (text, site) => {
  const pages = new Set(["README.md", "docs/money.md", "docs/engines.md", "docs/performance/README.md"]);
  const place = { root, page: "docs/engines.md", pages, addFile: () => {} };
  expect(rewrite(text.replace("images/b.svg", "images/console/books/dark.webp"), place)).toBe(
    site.replace("images/b.svg", "images/console/books/dark.webp"),
  );
});

test("a link that leads nowhere stops the site", () => {
  const place = { root, page: "docs/engines.md", pages: new Set<string>(), addFile: () => {} };
  expect(() => rewrite("[a](nowhere.md)", place)).toThrow("docs/engines.md: nowhere.md leads nowhere");
});
