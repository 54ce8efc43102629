import { expect, test } from "@jest/globals";
import { plain, results } from "../report/results.fixture.ts";
import { plots } from "./plots.ts";

test("draws bars, and lines where a scenario shows how costs grow", () => {
  const drawn = plots([
    ...results(plain, "tollgate", 200),
    ...results({ ...plain, scenario: "streams", stream: true, concurrency: 100 }, "tollgate", 200),
    ...results({ ...plain, scenario: "streams", stream: true, concurrency: 1000 }, "tollgate", 200),
  ]);
  expect([...drawn.keys()]).toEqual(["plain", "streams-memory", "streams-cpu"]);
  expect(drawn.get("streams-cpu")).toContain("<polyline");
  expect(drawn.get("plain")).toContain("chat plain, 16 at once, 10 tokens eager, short");
});
