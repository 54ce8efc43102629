import { expect, test } from "@jest/globals";
import { plain, results, turn } from "./results.fixture.ts";
import { summarise } from "./summary.ts";

test("takes the ratio round by round", () => {
  const { cpu, ratio } = summarise(plain, "tollgate", [turn(160), turn(300)], [turn(80), turn(100)]);
  expect(cpu).toEqual({ median: 230, min: 160, max: 300 });
  expect(ratio).toEqual({ median: 2.5, min: 2, max: 3 });
});

test("counts a stream by its tokens", () => {
  const [, result] = results({ ...plain, stream: true }, "tollgate", 160);
  expect(result?.cpu.median).toBe(16);
  expect(result?.tokensPerSecond.median).toBe(10_000);
  expect(result?.requestsPerSecond.median).toBe(1000);
});

test("names the load", () => {
  expect(results(plain, "tollgate", 1)[0]?.name).toBe("chat plain, 16 at once, 10 tokens eager, short");
});
