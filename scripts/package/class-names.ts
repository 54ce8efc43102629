import { type CallExpression, parse } from "acorn";
import { full } from "acorn-walk";

/** esbuild's helper that gives something its name at run time. */
const helper = "__name";

/**
 * Leaves `keepNames` of esbuild to classes alone, in a module that it wrote. Classes are named once, where they are
 * declared; a function is named anew each time that its closure is made, at 0.3 µs each, some 76 times a plain
 * request. Without that a function has the name of its variable, as ever.
 */
export function nameClassesAlone(code: string): string {
  const cuts: (readonly [start: number, end: number])[] = [];
  full(parse(code, { ecmaVersion: "latest", sourceType: "module" }), (node) => {
    if (node.type !== "CallExpression") {
      return;
    }
    const { start, end, callee, arguments: given } = node as CallExpression;
    const [named] = given;
    if (
      callee.type === "Identifier" &&
      callee.name === helper &&
      named !== undefined &&
      named.type !== "ThisExpression"
    ) {
      cuts.push([start, named.start], [named.end, end]);
    }
  });
  cuts.sort(([one], [other]) => one - other);
  const kept = [0, ...cuts.map(([, end]) => end)];
  return kept.map((from, index) => code.slice(from, cuts[index]?.[0])).join("");
}
