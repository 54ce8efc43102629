import { expect, test } from "@jest/globals";
import { findPartialRefreshes } from "../../../scripts/lint/partial-refresh.ts";

test.each([
  ["in one object", "em.find(Lot, {}, { fields: ['id'], refresh: true });"],
  ["over objects within it", "em.find(Lot, {}, { ...{ refresh: true }, ...{ fields: ['id'] } as object });"],
])("a read that refreshes some columns is found, written %s", (_, read) => {
  expect(findPartialRefreshes(`const em: Em = other;\n${read}\n`)).toEqual([2]);
});

test.each([["fields: ['id']"], ["refresh: true"]])("a read with { %s } alone is not", (options) => {
  expect(findPartialRefreshes(`em.find(Lot, {}, { ${options} });`)).toEqual([]);
});
