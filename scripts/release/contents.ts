import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { parse } from "yaml";
import { noticesFile } from "../package/bundle.ts";
import { binaryName, releaseNames } from "./names.ts";
import { readNotes } from "./notes.ts";

/** The first folders and files that the npm package may have; anything else came in by mistake. */
const packaged =
  /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|(bin|client|console|dist(?!\/docs\/)|gen|proto)\/.*)$/;
/** Sources, and what may hold a secret. */
const unwanted = /((?<!\.d)\.ts|\.pem|\.key|\.npmrc|\.env|\.db)$/;
/** How a program of a system begins. */
const magic: Readonly<Record<string, string>> = { linux: "7f454c46", darwin: "cffaedfe", win32: "4d5a" };

interface Component {
  readonly name: string;
  readonly version: string;
  readonly licenses?: readonly object[];
  readonly hashes?: readonly object[];
}

/** What is wrong inside the files of a release; `unpacked` is an empty folder to look into archives. */
export function checkContents(folder: string, version: string, unpacked: string): string[] {
  const names = releaseNames(version);
  const absent = [names.billOfMaterials, names.chart, names.notes].filter((name) => !existsSync(join(folder, name)));
  if (absent.length > 0) {
    return absent.map((name) => `${name}: is missing`);
  }
  const unpack = (name: string, to: string) => {
    mkdirSync(join(unpacked, to));
    execFileSync("tar", ["-xzf", join(folder, name), "-C", join(unpacked, to)]);
    return join(unpacked, to);
  };
  const npmPackage = join(unpack(names.npmPackage, "npm"), "package");
  const chart = join(unpack(names.chart, "chart"), "tollgate");
  return [
    ...checkPackage(npmPackage, version).map((what) => `${names.npmPackage}: ${what}`),
    ...checkBill(join(folder, names.billOfMaterials), npmPackage, version).map(
      (what) => `${names.billOfMaterials}: ${what}`,
    ),
    ...checkChart(chart, version).map((what) => `${names.chart}: ${what}`),
    ...checkBinaries(folder, version),
    ...checkNotes(join(folder, names.notes), npmPackage, version).map((what) => `${names.notes}: ${what}`),
  ];
}

function checkPackage(folder: string, version: string): string[] {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
  const strange = paths.filter((path) => !packaged.test(path) || unwanted.test(path));
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string };
  const told = tellVersion(process.execPath, [join(folder, "bin", "tollgate.js")]);
  return [
    ...strange.map((path) => `${path} does not belong into it`),
    ...(manifest.version === version ? [] : [`its version is ${manifest.version}`]),
    ...(told === version ? [] : [`it tells the version ${told}`]),
  ];
}

/** All packages that the program says are inside it, and those that npm installs beside it, have to be in the bill. */
function checkBill(file: string, npmPackage: string, version: string): string[] {
  const bill = JSON.parse(readFileSync(file, "utf8")) as {
    readonly bomFormat: string;
    readonly metadata: { readonly component: Component };
    readonly components: readonly Component[];
  };
  const listed = new Set(bill.components.map((component) => `${component.name} ${component.version}`));
  const { dependencies = {} } = JSON.parse(readFileSync(join(npmPackage, "package.json"), "utf8"));
  const notices = readFileSync(join(npmPackage, "dist", noticesFile), "utf8");
  const inside = [...notices.matchAll(/^(\S+ \d+\.\d+\.\S+): /gm)].map(([, name = ""]) => name);
  const beside = Object.entries(dependencies).map(([name, wanted]) => `${name} ${wanted}`);
  const bare = bill.components.filter(({ licenses = [], hashes = [] }) => licenses.length === 0 || hashes.length === 0);
  return [
    ...(bill.bomFormat === "CycloneDX" ? [] : ["it is not CycloneDX"]),
    ...(bill.metadata.component.version === version ? [] : [`it is of version ${bill.metadata.component.version}`]),
    ...(inside.length > 0 ? [] : ["the program does not tell what is inside it"]),
    ...[...inside, ...beside].filter((name) => !listed.has(name)).map((name) => `${name} ships, and is not in it`),
    ...bare.map(({ name }) => `${name} has no licence or no checksum`),
  ];
}

function checkChart(folder: string, version: string): string[] {
  const { version: own, appVersion } = parse(readFileSync(join(folder, "Chart.yaml"), "utf8")) as {
    readonly version: string;
    readonly appVersion: string;
  };
  return own === version && appVersion === version ? [] : [`it is version ${own} of ${appVersion}`];
}

/** Each is a program of the system that its name tells; that of this system also runs. */
function checkBinaries(folder: string, version: string): string[] {
  const binary = /^tollgate-.*-(linux|darwin|win32)-(x64|arm64)$/;
  const found = readdirSync(folder).filter((name) => binary.test(name));
  const wrong = found.filter((name) => {
    const wanted = magic[binary.exec(name)?.[1] ?? ""] ?? "";
    return !readFileSync(join(folder, name)).subarray(0, 4).toString("hex").startsWith(wanted);
  });
  const own = binaryName(version, process.platform, process.arch);
  const told = found.includes(own) ? tellVersion(join(folder, own), []) : version;
  return [
    ...(found.length > 0 ? [] : ["there is no binary"]),
    ...wrong.map((name) => `${name}: is no program of that system`),
    ...(told === version ? [] : [`${own}: it tells the version ${told}`]),
  ];
}

function checkNotes(file: string, npmPackage: string, version: string): string[] {
  const notes = readNotes(readFileSync(join(npmPackage, "CHANGELOG.md"), "utf8"), version);
  return readFileSync(file, "utf8") === notes ? [] : ["they are not what the changelog says"];
}

/** What a program prints when it is asked for its version. */
function tellVersion(program: string, before: readonly string[]): string {
  const { stdout, stderr, error } = spawnSync(program, [...before, "--version"], { encoding: "utf8" });
  return stdout?.trim() || stderr?.trim() || String(error);
}
