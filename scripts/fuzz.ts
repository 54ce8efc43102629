// Fuzzes what reads bytes from outside, for longer than the tests do: engines' lines, streams and chunks, the JSON codec of
// the surfaces, and the journal.
//   npm run fuzz -- [--seconds 60] [--seed N]
// The time is shared by all properties. A failure prints its seed and input; the same seed repeats it.
import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";

const { values } = parseArgs({ options: { seconds: { type: "string", default: "60" }, seed: { type: "string" } } });
const seconds = Number(values.seconds);
if (!(seconds > 0) || (values.seed !== undefined && !Number.isSafeInteger(Number(values.seed)))) {
  console.error("fuzz: --seconds is a number above 0, --seed a whole number");
  process.exit(1);
}

const files = globSync("test/**/*.test.ts").filter((file) => readFileSync(file, "utf8").includes("fuzzing("));
const properties = files.reduce((sum, file) => sum + readFileSync(file, "utf8").split("fuzzing(").length - 1, 0);
const env = {
  ...process.env,
  TOLLGATE_FUZZ_SECONDS: String(Math.max(1, seconds / properties)),
  ...(values.seed !== undefined && { TOLLGATE_FUZZ_SEED: values.seed }),
};
console.log(`fuzzing ${properties} properties for ${seconds} s in all`);
const timeout = String(seconds * 1000 + 60_000);
const jest = ["run", "--silent", "jest", "--", "--runInBand", `--testTimeout=${timeout}`, ...files];
process.exit(spawnSync("npm", jest, { env, stdio: "inherit" }).status ?? 1);
