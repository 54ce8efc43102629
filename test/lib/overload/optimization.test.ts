import { execFileSync } from "node:child_process";
import { expect, test } from "@jest/globals";

const file = new URL("../../../lib/overload/optimization.ts", import.meta.url).href;
/** What V8's own tests call a function that has been optimized, in its answer of bits. */
const optimized = 1 << 3;

/**
 * Whether V8 has optimized a function that was called so often, after each of these lines: each time another, as V8 remembers of a
 * text how far it came. Nothing is compiled beside it.
 */
const isOptimizedAfter = (calls: number, ...lines: string[]): boolean[] => {
  const program = `
    import { optimizeAsUsual, optimizeLater } from ${JSON.stringify(file)};
    const given = { a: 1, b: 2 };
    const answers = [];
    for (const set of [${lines.map((line) => `() => { ${line} }`).join()}]) {
      set();
      const f = Function("{ a, b }", "return a + b * " + answers.length);
      for (let i = 0; i < ${calls}; i++) {
        f(given);
      }
      answers.push((%GetOptimizationStatus(f) & ${optimized}) !== 0);
    }
    console.log(JSON.stringify(answers));`;
  const args = ["--allow-natives-syntax", "--no-concurrent-recompilation", "--input-type=module", "-e", program];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
};

test("a function is optimized after ten times as many calls, until that is as usual again", () => {
  expect(isOptimizedAfter(1500, "", "optimizeLater()", "optimizeAsUsual()")).toEqual([true, false, true]);
  expect(isOptimizedAfter(15_000, "optimizeLater()")).toEqual([true]);
});
