import { globSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { pathToFileURL } from "node:url";
import { type Expression, type ObjectExpression, parse } from "acorn";
import { simple } from "acorn-walk";

/**
 * Finds reads of the ORM that refresh some columns of a row: what the columns that were not read had before is then taken for
 * a change and written back at the next flush, over what others have written meanwhile. Returns the lines.
 */
export function findPartialRefreshes(text: string): number[] {
  const found: number[] = [];
  const program = parse(stripTypeScriptTypes(text), { ecmaVersion: "latest", sourceType: "module", locations: true });
  simple(program, {
    ObjectExpression(node) {
      const names = namesOf(node);
      if (names.includes("fields") && names.includes("refresh")) {
        found.push(node.loc?.start.line ?? 0);
      }
    },
  });
  return found;
}

/** The names of an object's properties, also of objects that are written out within it. */
function namesOf({ properties }: ObjectExpression): string[] {
  return properties.flatMap((property) => {
    if (property.type === "SpreadElement") {
      return isObject(property.argument) ? namesOf(property.argument) : [];
    }
    return property.key.type === "Identifier" ? [property.key.name] : [];
  });
}

function isObject(expression: Expression): expression is ObjectExpression {
  return expression.type === "ObjectExpression";
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  for (const path of globSync("src/**/*.ts").toSorted()) {
    for (const line of findPartialRefreshes(readFileSync(path, "utf8"))) {
      console.error(`${path}:${line}: "fields" and "refresh" together write old values of the other columns back`);
      process.exitCode = 1;
    }
  }
}
