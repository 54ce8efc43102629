import { expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { ConfiguredLabels } from "#src/money/labels/labels.ts";

const dayMs = 86_400_000;
const account = v7();

function open(
  kept: readonly { name: string; hash: boolean }[],
  { valuesPerDay = 1000, secret = "a pepper", now = 20_000 * dayMs } = {},
) {
  const others: string[] = [];
  const clock = { at: now, now: () => clock.at };
  const labels = new ConfiguredLabels({
    ...{ kept, valuesPerDay, clock, peppers: [{ version: 1, secret }] },
    observe: (name, reason) => void others.push(`${name} ${reason}`),
  });
  const settle = (stated: Record<string, string>, accountId = account) =>
    JSON.parse(labels.settle(accountId, stated) ?? "null");
  return { labels, settle, others, clock };
}

const app = { name: "app", hash: false };
const user = { name: "user", hash: true };

test("without configured labels nothing is kept, and names that are none are ignored", () => {
  expect(open([]).settle({ app: "x" })).toBeNull();
  const { settle, others } = open([app, { name: "constructor", hash: false }]);
  expect(settle({})).toBeNull();
  expect(settle({ app: "", other: "x", constructor: "x" })).toEqual({ constructor: "x" });
  expect(settle({ app: " Cline " })).toEqual({ app: "Cline" });
  expect(others).toEqual([]);
});

test("a hashed value is the same for one account and key of the deployment, and another one elsewhere", () => {
  const { settle } = open([user]);
  const ann = settle({ user: "ann" }).user;
  expect(ann).toMatch(/^[\w-]{22}$/);
  expect(settle({ user: "ann" }).user).toBe(ann);
  expect(open([user]).settle({ user: "ann" }).user).toBe(ann);
  const others = [
    settle({ user: "bob" }),
    settle({ user: "ann" }, v7()),
    open([user], { secret: "x" }).settle({ user: "ann" }),
  ];
  expect(new Set([ann, ...others.map((one) => one.user)]).size).toBe(4);
});

test.each(["x".repeat(129), "two\nlines", "\u001b[2J", "\u202egnp.exe", "half \ud800", "\0"])(
  "%j is recorded as other",
  (value) => {
    const { settle, others } = open([app, user]);
    expect(settle({ app: value, user: value })).toEqual({ app: "other", user: expect.stringMatching(/^[\w-]{22}$/) });
    expect(others).toEqual(["app form"]);
  },
);

test("beyond so many values a day of a label and an account, a new one is recorded as other", () => {
  const { settle, others, clock, labels } = open([app, { name: "team", hash: false }], { valuesPerDay: 2 });
  expect(["a", "b", "c", "a"].map((value) => settle({ app: value }).app)).toEqual(["a", "b", "other", "a"]);
  expect(settle({ team: "c" })).toEqual({ team: "c" });
  expect(settle({ app: "c" }, v7())).toEqual({ app: "c" });
  expect(others).toEqual(["app values"]);
  labels.learn([{ accountId: account, name: "team", value: "of another core" }]);
  expect(settle({ team: "d" })).toEqual({ team: "other" });
  expect(settle({ team: "of another core" })).toEqual({ team: "of another core" });
  expect(settle({ app: "other" })).toEqual({ app: "other" });
  expect(others).toEqual(["app values", "team values"]);
  clock.at += dayMs;
  expect(settle({ app: "c" })).toEqual({ app: "c" });
});
