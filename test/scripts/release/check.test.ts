import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { checkRelease } from "../../../scripts/release/check.ts";
import { binaryName } from "../../../scripts/release/names.ts";

// A release of small files, made as the real one is; `npm run release && npm run release:check` judges a real one.

const version = "1.2.3";
const binary = binaryName(version, process.platform, process.arch);
/** What tells its version, whatever it is asked. */
const program = `#!${process.execPath}\nconsole.log("${version}");\n`;
const component = { licenses: [{}], hashes: [{}] };
const bill = {
  bomFormat: "CycloneDX",
  metadata: { component: { name: "tollgate", version } },
  components: [
    { name: "inside", version: "4.0.0", ...component },
    { name: "beside", version: "5.0.0", ...component },
  ],
};
const packaged: Record<string, string> = {
  "package.json": JSON.stringify({ version, type: "module", dependencies: { beside: "5.0.0" } }),
  "CHANGELOG.md": `# Changelog\n\n## ${version}\n\n- new\n`,
  "bin/tollgate.js": program,
  "dist/THIRD-PARTY-LICENSES.txt": "inside 4.0.0: MIT\n\ntext\n",
  "client/index.d.ts": "",
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-release-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Writes a release whose parts are those given, or right ones. */
function release({
  npm = packaged,
  chart = `version: ${version}\nappVersion: "${version}"\n`,
  sbom = bill as object,
  notes = "- new\n",
  binaries = { [binary]: undefined } as Record<string, string | undefined>,
}): void {
  pack(`tollgate-${version}.tgz`, "package", npm);
  pack(`tollgate-chart-${version}.tgz`, "tollgate", { "Chart.yaml": chart });
  writeFileSync(join(folder, `tollgate-${version}.cdx.json`), JSON.stringify(sbom));
  writeFileSync(join(folder, "RELEASE-NOTES.md"), notes);
  for (const [name, text] of Object.entries(binaries)) {
    // The magic number is that of a program; what is run is its version alone.
    writeFileSync(join(folder, name), text ?? readFileSync("/bin/true"), { mode: 0o755 });
  }
  sum();
}

function pack(name: string, top: string, files: Readonly<Record<string, string>>): void {
  const made = mkdtempSync(join(tmpdir(), "tollgate-archive-"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(made, top, path)), { recursive: true });
    writeFileSync(join(made, top, path), text);
  }
  execFileSync("tar", ["-czf", join(folder, name), "-C", made, top]);
  rmSync(made, { recursive: true });
}

function sum(): void {
  const names = readdirSync(folder).filter((name) => name !== "SHA256SUMS");
  const digest = (name: string) =>
    createHash("sha256")
      .update(readFileSync(join(folder, name)))
      .digest("hex");
  writeFileSync(join(folder, "SHA256SUMS"), names.map((name) => `${digest(name)}  ${name}\n`).join(""));
}

const foreign = { [`tollgate-${version}-darwin-arm64`]: "\u007fELF" };
const otherSystem = { [binaryName(version, "linux", process.arch === "x64" ? "arm64" : "x64")]: "\u007fELF" };

test("a release that is right has nothing wrong with it", () => {
  release({ binaries: otherSystem });
  expect(checkRelease(folder)).toEqual([]);
});

test.each([
  [
    "another version of the package",
    { npm: { ...packaged, "package.json": '{"version":"1.2.2"}' } },
    "its version is 1.2.2",
  ],
  [
    "a program of another version",
    { npm: { ...packaged, "bin/tollgate.js": 'console.log("1")' } },
    "tells the version 1",
  ],
  ["sources", { npm: { ...packaged, "dist/a.ts": "" } }, "dist/a.ts does not belong into it"],
  ["tests", { npm: { ...packaged, "test/a.js": "" } }, "test/a.js does not belong into it"],
  ["a secret", { npm: { ...packaged, "dist/.env": "" } }, "dist/.env does not belong into it"],
  [
    "a package that the bill lacks",
    { sbom: { ...bill, components: bill.components.slice(0, 1) } },
    "beside 5.0.0 ships",
  ],
  [
    "a package without a licence",
    { sbom: { ...bill, components: [{ ...bill.components[0], licenses: [] }, bill.components[1]] } },
    "inside has no licence",
  ],
  ["a bill of another version", { sbom: { ...bill, metadata: { component: { version: "1" } } } }, "it is of version 1"],
  ["another bill", { sbom: { ...bill, bomFormat: "SPDX" } }, "it is not CycloneDX"],
  ["a chart of another version", { chart: 'version: 1.2.3\nappVersion: "1.2.2"\n' }, "it is version 1.2.3 of 1.2.2"],
  ["other notes", { notes: "- old\n" }, "they are not what the changelog says"],
  ["no binary", { binaries: {} }, "there is no binary"],
  ["a binary of another system", { binaries: foreign }, "is no program of that system"],
  ["a binary that does not tell its version", {}, `${binary}: it tells the version`],
])("%s is found", (_, parts, finding) => {
  release({
    binaries: otherSystem,
    ...parts,
    ...(finding.startsWith(binary) && { binaries: { [binary]: undefined } }),
  });
  expect(checkRelease(folder)).toEqual([expect.stringContaining(finding)]);
});

test("files that are changed, added, or gone are found by their checksums", () => {
  release({ binaries: otherSystem });
  writeFileSync(join(folder, "RELEASE-NOTES.md"), "- older\n");
  cpSync(join(folder, "SHA256SUMS"), join(folder, "more"));
  rmSync(join(folder, `tollgate-chart-${version}.tgz`));
  expect(checkRelease(folder).toSorted()).toEqual([
    expect.stringMatching(/^RELEASE-NOTES\.md: its checksum is/),
    "more: SHA256SUMS does not have it",
    `tollgate-chart-${version}.tgz: is missing`,
  ]);
  rmSync(join(folder, "SHA256SUMS"));
  expect(checkRelease(folder)).toEqual(["there is no SHA256SUMS"]);
});
