import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { releaseNames } from "./names.ts";

const { sums } = releaseNames("");

/** What is wrong with the checksums of a folder: each file has one, and is what it says. */
export function checkSums(folder: string): string[] {
  if (!existsSync(join(folder, sums))) {
    return [`there is no ${sums}`];
  }
  const lines = readFileSync(join(folder, sums), "utf8").trim().split("\n");
  const told = new Map(lines.map((line): [string, string] => [line.slice(66), line.slice(0, 64)]));
  const found = readdirSync(folder).filter((name) => name !== sums);
  const absent = [...told.keys()].filter((name) => !found.includes(name));
  const judged = found.flatMap((name) => {
    const digest = told.get(name);
    if (digest === undefined) {
      return [`${name}: ${sums} does not have it`];
    }
    const is = createHash("sha256")
      .update(readFileSync(join(folder, name)))
      .digest("hex");
    return is === digest ? [] : [`${name}: its checksum is ${is}, not ${digest}`];
  });
  return [...absent.map((name) => `${name}: is missing`), ...judged];
}
