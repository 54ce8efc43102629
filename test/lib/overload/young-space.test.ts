import { execFileSync } from "node:child_process";
import { expect, test } from "@jest/globals";

const file = new URL("../../../lib/overload/young-space.ts", import.meta.url).href;

/** Prints how many MiB the young space has once 60 MB that live on were made, as a start does, after a first line. */
const grown = (first: string): number => {
  const program = `
    import { getHeapSpaceStatistics } from "node:v8";
    import { keepYoungSpaceSmall, letYoungSpaceGrow } from ${JSON.stringify(file)};
    ${first}
    const kept = [];
    for (let i = 0; i < 1_000_000; i++) {
      kept.push({ i, next: { i } });
    }
    const { space_size } = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space");
    console.log(space_size / 2 ** 20, kept.length > 0);`;
  return Number.parseFloat(
    execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" }),
  );
};

test("what lives on does not enlarge the young space while it is kept small", () => {
  expect(grown("")).toBeGreaterThan(8);
  expect(grown("keepYoungSpaceSmall();")).toBeLessThan(4);
});

test("it grows again once it may", () => {
  expect(grown("keepYoungSpaceSmall(); letYoungSpaceGrow();")).toBeGreaterThan(8);
});
