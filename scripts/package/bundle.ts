import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build, type Metafile } from "esbuild";
import { nameClassesAlone } from "./class-names.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/**
 * Modules that run as threads, by their paths without an ending: each is one file, as every thread that starts loads all of it
 * anew.
 */
export const threads = ["src/money/store/sqlite/worker", "src/storage/sqlite/reader", "src/storage/sqlite/statements"];

const main = "src/main";

/** Texts of licences that have to come along with the packages inside a bundle. */
export const noticesFile = "THIRD-PARTY-LICENSES.txt";

/** How a bundle is cut. */
export interface Cut {
  /** The oldest Node.js that runs it. */
  readonly node: string;
  /** In parts that are loaded when a command needs them, instead of one file for each entry. */
  readonly inParts: boolean;
  /** Such as ".js". */
  readonly extension: string;
}

/**
 * Writes the program with the packages that it uses as few files of JavaScript: Node.js starts it in half the time that several
 * hundred files take. Entries keep their paths below the folder, and parts go to `lib`, so that `lib/files/assets.ts` finds its
 * way. Returns what it read of the repository itself, by paths below its root.
 */
export async function bundle(folder: string, cut: Cut): Promise<string[]> {
  const [program, apart] = await Promise.all([
    build(toOptions(folder, cut, [main])),
    build(toOptions(folder, { ...cut, inParts: false }, threads)),
  ]);
  for (const path of Object.keys({ ...program.metafile.outputs, ...apart.metafile.outputs })) {
    const file = join(root, path);
    await writeFile(file, nameClassesAlone(await readFile(file, "utf8")));
  }
  const inputs = { ...program.metafile.inputs, ...apart.metafile.inputs };
  const notices = await Promise.all(packagesIn({ inputs }).map(readNotice));
  await writeFile(join(folder, noticesFile), notices.join(`\n${"-".repeat(80)}\n\n`));
  return Object.keys(inputs).filter((path) => !path.includes("node_modules/"));
}

/** What a bundle of the program is made of; writes nothing. */
export async function analyzeProgram(): Promise<Metafile> {
  const cut = { node: process.versions.node, inParts: false, extension: ".js" };
  const { metafile } = await build({ ...toOptions("dist", cut, [main, ...threads]), write: false });
  return metafile;
}

/** The folders of all packages that a bundle took something from, below the root and in order. */
export function packagesIn({ inputs }: Pick<Metafile, "inputs">): string[] {
  const folders = Object.keys(inputs).flatMap((path) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
  return [...new Set(folders)].toSorted();
}

function toOptions(folder: string, { node, inParts, extension }: Cut, entries: readonly string[]) {
  return {
    absWorkingDir: root,
    entryPoints: entries.map((path) => `${path}.ts`),
    outbase: ".",
    outdir: folder,
    outExtension: { ".js": extension },
    chunkNames: "lib/[name]-[hash]",
    bundle: true,
    splitting: inParts,
    platform: "node",
    format: "esm",
    target: `node${node}`,
    // A native driver that pg would take if it were there.
    external: ["pg-native"],
    // CommonJS inside the bundle asks for Node.js's own modules.
    banner: {
      js: `import { createRequire as requireOfBundle } from "node:module"; const require = requireOfBundle(${inParts ? "import.meta.url" : '"file:///"'});`,
    },
    legalComments: "none", // they are in the notices
    minifyWhitespace: true,
    lineLimit: 200, // a stack trace prints the line
    // The ORM goes by the names of classes; those of functions are taken out again.
    keepNames: true,
    metafile: true,
    logLevel: "warning",
  } satisfies BuildOptions;
}

async function readNotice(folder: string): Promise<string> {
  const path = join(root, folder);
  const { name, version, license } = JSON.parse(await readFile(join(path, "package.json"), "utf8"));
  const files = (await readdir(path)).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file)).toSorted();
  const texts = await Promise.all(files.map((file) => readFile(join(path, file), "utf8")));
  return [`${name} ${version}: ${license}`, ...texts.map((text) => text.trim()), ""].join("\n\n");
}
