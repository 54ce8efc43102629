import { globSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { relative } from "node:path";
import { pathToFileURL } from "node:url";
import { parse } from "acorn";
import { simple } from "acorn-walk";
import { analyse } from "scslre";

/** The sources whose expressions see text from outside. */
const sources = ["lib/**/*.ts", "src/**/*.ts", "facades/**/*.ts"];
/** Expressions that see only what the project itself writes, when it is built or before it starts. */
const own = ["facades/codegen/**"];

/** A regular expression, and where it stands. */
export interface Expression {
  readonly source: string;
  readonly flags: string;
  readonly line: number;
}

/** The regular expressions that are written out in a TypeScript source. */
export function findExpressions(text: string): Expression[] {
  const found: Expression[] = [];
  const program = parse(stripTypeScriptTypes(text), { ecmaVersion: "latest", sourceType: "module", locations: true });
  simple(program, {
    Literal(node) {
      const { regex, loc } = node;
      if (regex !== undefined) {
        found.push({ source: regex.pattern, flags: regex.flags, line: loc?.start.line ?? 0 });
      }
    },
  });
  return found;
}

/** Why the work of an expression grows faster than the text that it is tried on. Undefined: it does not. */
export function findSlowness({ source, flags }: Pick<Expression, "source" | "flags">): string | undefined {
  const [report] = analyse({ source, flags }, { maxReports: 1 }).reports;
  return (
    report && `many ${JSON.stringify(report.character.pick)} take ${report.exponential ? "for ever" : "their square"}`
  );
}

/** Prints each expression whose work grows faster than its text, and sets the exit code where there is one. */
function check(): void {
  for (const path of globSync(sources, { exclude: own }).toSorted()) {
    for (const expression of findExpressions(readFileSync(path, "utf8"))) {
      const slowness = findSlowness(expression);
      if (slowness !== undefined) {
        const { line, source, flags } = expression;
        console.error(`${relative(".", path)}:${line}: /${source}/${flags}: ${slowness}`);
        process.exitCode = 1;
      }
    }
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  check();
}
