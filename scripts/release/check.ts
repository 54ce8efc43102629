// Judges the files of a release as whoever downloads them can: `npm run release:check`, with a folder other than build/release as
// `npm run release:check -- FOLDER`. With `--repo OWNER/NAME` GitHub's command line also proves where each file was built.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { checkContents } from "./contents.ts";
import { checkSums } from "./sums.ts";

/** What is wrong with a release, a line each. Empty: nothing is. */
export function checkRelease(folder: string): string[] {
  const wrong = checkSums(folder);
  if (wrong.length > 0) {
    return wrong; // what is in files that were changed does not matter
  }
  const [, version] = readdirSync(folder).flatMap((name) => /^tollgate-(\d.*)\.tgz$/.exec(name) ?? []);
  if (version === undefined) {
    return ["there is no npm package"];
  }
  const unpacked = mkdtempSync(join(tmpdir(), "tollgate-release-"));
  try {
    return checkContents(folder, version, unpacked);
  } finally {
    rmSync(unpacked, { recursive: true });
  }
}

/** What is wrong with the proofs of where the files were built. */
function checkProvenance(folder: string, repository: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const args = ["attestation", "verify", join(folder, name), "--repo", repository];
    const { status, stderr, error } = spawnSync("gh", args, { encoding: "utf8" });
    return status === 0 ? [] : [`${name}: ${error === undefined ? stderr.trim() : `gh: ${error.message}`}`];
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values, positionals } = parseArgs({ options: { repo: { type: "string" } }, allowPositionals: true });
  const folder = positionals[0] ?? fileURLToPath(new URL("../../build/release", import.meta.url));
  const wrong = [...checkRelease(folder), ...(values.repo === undefined ? [] : checkProvenance(folder, values.repo))];
  const unproved = values.repo === undefined ? "; where they were built is not proved without --repo OWNER/NAME" : "";
  console.log(wrong.length === 0 ? `${readdirSync(folder).length} files are right${unproved}` : wrong.join("\n"));
  process.exitCode = wrong.length === 0 ? 0 : 1;
}
