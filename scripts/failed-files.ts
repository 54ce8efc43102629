import { readFile } from "node:fs/promises";
import { relative } from "node:path";

/** The files that failed in a run, by jest's report of it, as paths below the root. Empty: the run wrote no report. */
export async function failedFiles(report: string, root: string): Promise<string[]> {
  const text = await readFile(report, "utf8").catch(() => '{"testResults":[]}');
  const { testResults } = JSON.parse(text) as { testResults: readonly { name: string; status: string }[] };
  return testResults.filter(({ status }) => status === "failed").map(({ name }) => relative(root, name));
}
