import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";

const folder = fileURLToPath(new URL("../../docs/decisions/", import.meta.url));
const read = (file: string) => readFileSync(folder + file, "utf8");
const records = readdirSync(folder).filter((file) => /^\d{4}-/.test(file));

test("a decision that was taken back says so in the index, in its title and in its first words", () => {
  const index = read("README.md").split("\n");
  const taken = (file: string) => ({
    file,
    index: index.some((row) => row.includes(`](${file})`) && row.includes("taken back")),
    title: /^# .*\(taken back\)\n/.test(read(file)),
    first: /^# .*\n\n\*\*Taken back\*\*/.test(read(file)),
  });
  const wrong = records.map(taken).filter(({ index, title, first }) => index !== title || title !== first);
  expect(wrong).toEqual([]);
  expect(records.some((file) => taken(file).title)).toBe(true);
});
