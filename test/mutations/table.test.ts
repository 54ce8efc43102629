import { expect, test } from "@jest/globals";
import type { Mutation } from "./mutation.ts";
import { isMissed, sumUp } from "./table.ts";

const mutation = (name: string, more: Partial<Mutation> = {}): Mutation => ({
  ...{ name, file: "", find: "", replace: "", breaks: "", tests: [], ...more },
});

test("a table names who noticed what, and counts what worlds notice alone of what they live", () => {
  const noticed = new Map([
    [mutation("a"), { name: "a", test: "a.test.ts: works", judge: "books", worlds: 3 }],
    [mutation("b"), { name: "b", judge: "prices", worlds: 7 }],
    [mutation("c"), { name: "c", worlds: 300 }],
    [mutation("d", { worlds: [] }), { name: "d", test: "d.test.ts: works", worlds: 0 }],
    [mutation("e", { equivalent: "nobody asks" }), { name: "e", worlds: 300 }],
  ]);
  expect(sumUp(noticed).split("\n")).toEqual([
    "mutation | test | judge",
    "a | a.test.ts: works | books, world 3",
    "b | no test | prices, world 7",
    "MISSED c | no test | no judge in 300 worlds",
    "d | d.test.ts: works | no judge in 0 worlds",
    "e | no test | no judge in 300 worlds",
    "5 mutations, 1 missed",
    "2 noticed by tests",
    "2 of 3 noticed by worlds alone: 66.7 %; no world lives the texts of 1",
    "1 equivalent",
  ]);
  expect([...noticed].filter(([one, found]) => isMissed(one, found))).toHaveLength(1);
});
