import { execFileSync } from "node:child_process";
import { expect, test } from "@jest/globals";

const file = new URL("../../../lib/overload/compilers.ts", import.meta.url).href;

const pauseFile = new URL("../../support/pause.ts", import.meta.url).href;

/** Whether V8 has compiled a function that ran a million times, after each of some calls: the status has a bit for each way to run. */
const compiled = (...calls: readonly string[]): boolean[] => {
  const program = `
    import { pause } from ${JSON.stringify(pauseFile)};
    import { compileAll, compileNothing } from ${JSON.stringify(file)};
    const sum = (a, b) => a + b;
    const status = () => %GetOptimizationStatus(sum);
    const interpreted = (sum(1, 2), status());
    const run = async () => {
      for (let round = 0; round < 20 && status() === interpreted; round++) {
        for (let i = 0; i < 50_000; i++) {
          sum(i, 1);
        }
        await pause(5, "compilers have threads of their own");
      }
      return status() !== interpreted;
    };
    const found = [];
    ${calls.map((call) => `${call}; found.push(await run());`).join("\n")}
    console.log(JSON.stringify(found));`;
  const options = ["--allow-natives-syntax", "--input-type=module", "-e", program];
  return JSON.parse(execFileSync(process.execPath, options, { encoding: "utf8" }));
};

test("a start compiles nothing, and what runs often is compiled from then on", () => {
  expect(compiled("")).toEqual([true]);
  expect(compiled("compileNothing()", "compileAll()")).toEqual([false, true]);
});
