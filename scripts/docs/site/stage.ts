import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Every page of the documentation, below the repository's root. */
export function listPages(root: string): string[] {
  return globSync(["*.md", "docs/**/*.md"], { cwd: root }).toSorted();
}

/**
 * Puts the pages into a folder as the site has them: links lead to pages of the site, and to files that are copied into it; a
 * README is its folder's index. Pages stay as they are otherwise. The README's table of contents becomes the menu.
 */
export function stage(root: string, folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  const pages = new Set(listPages(root));
  for (const page of pages) {
    const place = { root, page, pages, addFile: (path: string) => copy(root, folder, path) };
    write(join(folder, toSitePage(page)), rewrite(readFileSync(join(root, page), "utf8"), place));
  }
  write(join(folder, "menu.json"), JSON.stringify(readMenu(root, pages)));
}

/** A page, and what its links may lead to. */
export interface Place {
  readonly root: string;
  /** Below the root, as all paths. */
  readonly page: string;
  readonly pages: ReadonlySet<string>;
  /** Adds a file to the site. */
  addFile(path: string): void;
}

/** The page with its links as the site needs them; what stands in blocks of code is no link. */
export function rewrite(text: string, place: Place): string {
  const parts = text.split(/^(```.*?^```)/gms);
  return parts.map((part, index) => (index % 2 === 1 ? part : rewriteProse(part, place))).join("");
}

function rewriteProse(prose: string, place: Place): string {
  return prose
    .replace(/\b(src|srcset)="(?!\w+:)([^"]+)"/g, (_, name, target) => `${name}="${toSiteLink(target, place)}"`)
    .replace(/(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\((?!\w+:|#)([^)\s]+)\)/g, (_, image, label, target) => {
      const link = toSiteLink(target, place);
      if (link === undefined) {
        return label;
      }
      const isFile = image === "" && link.startsWith(files);
      // A link to a file is not judged as one to a page.
      return isFile ? `<a href="${link}" target="_self">${label}</a>` : `${image}[${label}](${link})`;
    });
}

/** Where a link of a page leads in the site. Undefined: to a folder that is not part of it. */
function toSiteLink(target: string, { root, page, pages, addFile }: Place): string | undefined {
  const [path = "", anchor] = target.split("#");
  const file = join(dirname(page), path).replace(/\/$/, "");
  const found = [file, join(file, "README.md")].find((name) => pages.has(name));
  if (found !== undefined) {
    return `/${toSitePage(found)}${anchor === undefined ? "" : `#${anchor}`}`;
  }
  if (!existsSync(join(root, file))) {
    throw new Error(`${page}: ${target} leads nowhere`);
  }
  if (statSync(join(root, file)).isDirectory()) {
    return undefined;
  }
  addFile(file);
  return `${files}${toSiteFile(file)}`;
}

/** Where files are that are no pages. */
const files = "/files/";

/** Another folder's README is not a page of the site. */
const toSiteFile = (path: string) => path.replace(/\.md$/, ".md.txt");

const toSitePage = (page: string) => page.replace(/(^|\/)README\.md$/, "$1index.md");

/** The pages of the README's table of contents, each by its own heading. */
function readMenu(root: string, pages: ReadonlySet<string>) {
  const cells = readFileSync(join(root, "README.md"), "utf8").matchAll(/^\| (\[[^|]+) +\|/gm);
  const targets = Array.from(cells, ([, cell = ""]) =>
    Array.from(cell.matchAll(/\]\(([^)]+)\)/g), ([, target = ""]) => target),
  );
  return targets.flat().map((target) => {
    const page = [target, `${target}/README.md`].find((name) => pages.has(name));
    if (page === undefined) {
      throw new Error(`README.md: ${target} is no page`);
    }
    const [, text = target] = /^# (.+)$/m.exec(readFileSync(join(root, page), "utf8")) ?? [];
    return { text, link: `/${toSitePage(page)}` };
  });
}

function copy(root: string, folder: string, path: string): void {
  const target = join(folder, "public", files, toSiteFile(path));
  mkdirSync(dirname(target), { recursive: true });
  cpSync(join(root, path), target);
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
