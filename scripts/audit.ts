// Looks up what is known by now of vulnerabilities in the dependencies that ship: `npm run audit`, or for a
// release `npm run audit -- --release` (or TOLLGATE_RELEASE=1), which fails when nobody can tell. It is apart from `npm test`,
// whose outcome must not change by itself.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { readShipped } from "./package/shipped.ts";

/** Severities that must not ship. */
const refused = ["high", "critical"];

interface Report {
  /** By package. Undefined: the registry gave no report. */
  readonly vulnerabilities?: Readonly<Record<string, { readonly severity: string; readonly range: string }>>;
  readonly message?: string;
}

/**
 * Judges what `npm audit --json` printed of the packages that ship, by their names. Registries and mirrors without an audit, and those that are away, say nothing about
 * the dependencies: that fails a release, and nothing else.
 */
export function judge(
  output: string,
  isRelease: boolean,
  shipped: ReadonlySet<string>,
): { readonly ok: boolean; readonly lines: readonly string[] } {
  const { vulnerabilities, message = "the registry gave no report" } = parse(output);
  if (vulnerabilities === undefined) {
    const consequence = isRelease ? ["a release has to be audited: ask a registry that has an audit"] : [];
    return { ok: !isRelease, lines: [`not audited: ${message}`, ...consequence] };
  }
  const found = Object.entries(vulnerabilities).filter(([name]) => shipped.has(name));
  if (found.length === 0) {
    return { ok: true, lines: ["no known vulnerabilities"] };
  }
  const lines = found.map(([name, { severity, range }]) => `${severity}: ${name} ${range}`);
  return { ok: !found.some(([, { severity }]) => refused.includes(severity)), lines };
}

function parse(output: string): Report {
  try {
    return JSON.parse(output) as Report;
  } catch {
    return {};
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { stdout } = spawnSync("npm", ["audit", "--json"], { encoding: "utf8", maxBuffer: 2 ** 26 });
  const shipped = new Set([...(await readShipped())].map((name) => name.slice(0, name.lastIndexOf("@"))));
  const isRelease = process.argv.includes("--release") || process.env.TOLLGATE_RELEASE === "1";
  const { ok, lines } = judge(stdout, isRelease, shipped);
  console.log(lines.join("\n"));
  process.exitCode = ok ? 0 : 1;
}
