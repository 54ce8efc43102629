import { expect, test } from "@jest/globals";
import { barChart } from "./bar-chart.ts";

test("draws a bar for each value, as long as the value", () => {
  const svg = barChart({
    title: "a < b & c",
    axis: "µs",
    groups: [
      {
        label: "plain",
        bars: [
          { series: "raw", value: 50, min: 40, max: 60 },
          { series: "ours", value: 100, min: 100, max: 100 },
          { series: "none", value: Number.NaN, min: Number.NaN, max: Number.NaN },
        ],
      },
    ],
  });
  expect(svg).toContain("a &lt; b &amp; c");
  expect(svg).not.toContain("NaN");
  const widths = [...svg.matchAll(/<rect x="300" y="\d+" width="([\d.]+)"/g)].map(([, width]) => Number(width));
  expect(widths.filter((width) => width > 10)).toEqual([240, 480]);
});
