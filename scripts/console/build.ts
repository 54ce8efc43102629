// Builds the console's browser code into console/dist: `npm run build:console`, and the end of `npm ci`. Names carry the hash of
// what they hold, so that browsers keep them for ever; index.html names them and is written last.

import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";
import { build, type Metafile } from "esbuild";

const root = fileURLToPath(new URL("../../", import.meta.url));
const source = join(root, "console");
const output = join(source, "dist");
/** Served for ever under their names, which change with what they hold. */
const assets = join(output, "assets");
const main = "console/main.tsx";
/** Smaller ones gain nothing from being compressed. */
const smallestCompressed = 512;

/** Bundles the console; writes nothing. */
export async function bundleConsole() {
  return build({
    absWorkingDir: root,
    entryPoints: { console: main },
    outdir: "console/dist/assets",
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    target: ["chrome120", "firefox121", "safari17.2"],
    jsx: "automatic",
    jsxImportSource: "preact",
    loader: { ".woff2": "file", ".svg": "file" },
    minify: true,
    legalComments: "linked",
    define: { "process.env.NODE_ENV": '"production"' },
    write: false,
    metafile: true,
    logLevel: "warning",
  });
}

export async function buildConsole(): Promise<void> {
  const { metafile, outputFiles } = await bundleConsole();
  await mkdir(assets, { recursive: true });
  const font = await readFile(join(root, "node_modules/@fontsource-variable/geist/LICENSE"));
  const files = [...outputFiles, { path: "font-LICENSE.txt", contents: font }];
  const written = await Promise.all(files.map(({ path, contents }) => writeAsset(basename(path), contents)));
  await replace(join(output, "index.html"), Buffer.from(await indexPage(metafile)));
  const fresh = new Set(written.flat());
  const stale = (await readdir(assets)).filter((name) => !fresh.has(name));
  await Promise.all(stale.map((name) => rm(join(assets, name))));
}

/** Writes a file and its compressed twin, unless they are there: what has the name has the contents. Returns their names. */
async function writeAsset(name: string, contents: Uint8Array): Promise<string[]> {
  const names = contents.length < smallestCompressed || name.endsWith(".woff2") ? [name] : [`${name}.br`, name];
  if (names.every((one) => existsSync(join(assets, one)))) {
    return names;
  }
  const quality = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  for (const one of names) {
    await replace(join(assets, one), one === name ? contents : brotliCompressSync(contents, { params: quality }));
  }
  return names;
}

/** A server that reads meanwhile never sees half of a file; one that would not change is left alone. */
async function replace(path: string, contents: Uint8Array): Promise<void> {
  if (existsSync(path) && (await readFile(path)).equals(contents)) {
    return;
  }
  const unfinished = `${path}.${process.pid}`;
  await writeFile(unfinished, contents);
  await rename(unfinished, path);
}

/** The page that loads everything; modules that the first one imports are asked for at once. */
async function indexPage(metafile: Metafile): Promise<string> {
  const template = await readFile(join(source, "index.html"), "utf8");
  const [entry, details] = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === main) ?? [];
  if (entry === undefined || details?.cssBundle === undefined) {
    throw new Error(`${main} made no script or no style sheet`);
  }
  const early = details.imports.filter(({ kind }) => kind === "import-statement").map(({ path }) => path);
  const font = Object.keys(metafile.outputs).filter((path) => path.endsWith(".woff2"));
  const tags = [
    ...font.map(
      (path) => `<link rel="preload" href="/assets/${basename(path)}" as="font" type="font/woff2" crossorigin>`,
    ),
    `<link rel="stylesheet" href="/assets/${basename(details.cssBundle)}">`,
    ...early.map((path) => `<link rel="modulepreload" href="/assets/${basename(path)}">`),
    `<script type="module" src="/assets/${basename(entry)}"></script>`,
  ];
  return template.replace("<!-- assets -->", () => tags.join("\n    "));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildConsole();
}
