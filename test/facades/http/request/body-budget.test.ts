import { expect, test } from "@jest/globals";
import { BodyBudget } from "../../../../facades/http/request/body-budget.ts";

test("a body for which its network, or all accounts, have no room is refused and counted; others are not", () => {
  let refused = 0;
  const budget = new BodyBudget(8000, () => refused++);
  const [mine, also, other] = [budget.open("a"), budget.open("a"), budget.open("b")];
  mine.resize(1000);
  expect(() => also.resize(1)).toThrow("Too many large requests");
  other.resize(1000);
  expect(refused).toBe(1);
  mine.moveTo("account");
  also.resize(1000);
  expect(() => mine.resize(2001)).toThrow("Too many large requests");
  expect(refused).toBe(2);
});
