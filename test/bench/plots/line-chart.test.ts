import { expect, test } from "@jest/globals";
import { lineChart } from "./line-chart.ts";

test("draws a line through the points, from the lower left corner", () => {
  const svg = lineChart({
    title: "memory",
    xAxis: "streams",
    yAxis: "MiB",
    series: [
      {
        name: "tollgate",
        points: [
          [0, 0],
          [500, 50],
          [1000, 100],
        ],
      },
    ],
  });
  expect(svg).toContain('points="70,336 350,196 630,56"');
});

test("the legend of many lines stays within the picture", () => {
  const series = [4, 16, 64, 256].map((servers) => ({ name: `${servers} servers`, points: [[1, 1]] as const }));
  const svg = lineChart({ title: "cost", xAxis: "tokens", yAxis: "µs", series });
  const [, width] = /width="(\d+)"/.exec(svg) ?? [];
  const [, x] = /<text x="(\d+)"[^>]*>256 servers/.exec(svg) ?? [];
  expect(Number(x) + 80).toBeLessThan(Number(width));
});
