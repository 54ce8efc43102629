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
