import { expect, test } from "@jest/globals";
import { runHere } from "../../support/run-here.ts";

test("a statement that is not there is told by name", async () => {
  const { code, notes } = await runHere(["verify", "/nowhere/statement.jsonl"]);
  expect([code, notes]).toEqual([1, "tollgate: there is no file /nowhere/statement.jsonl"]);
});
