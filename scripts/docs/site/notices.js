import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const name = "THIRD-PARTY-LICENSES.txt";

/** Adds the licences of the packages whose code the pages bring to browsers, as those licences ask for. A plugin of Vite. */
export const notices = {
  name: "notices",
  generateBundle(_, bundle) {
    const modules = Object.values(bundle).flatMap((chunk) => Object.keys(chunk.modules ?? {}));
    const folders = modules.flatMap((path) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
    const texts = [...new Set(folders)].toSorted().map(readNotice);
    this.emitFile({ type: "asset", fileName: name, source: texts.join(`\n${"-".repeat(80)}\n\n`) });
  },
};

function readNotice(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice)/i.test(file));
  const texts = files.map((file) => readFileSync(join(folder, file), "utf8").trim());
  return [`${name} ${version}: ${license}`, ...texts, ""].join("\n\n");
}
