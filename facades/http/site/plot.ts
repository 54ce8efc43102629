import type { ModelPriceDays, PriceDay } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import { formatRate } from "#lib/money/money.ts";

const width = 300;
const height = 36;
/** Room above and below, so that a line's ends are not cut. */
const edge = 3;
const days = 30;

/** The prices of 30 days as steps; empty where there are no two days to compare. Prices that stood still are a line. */
export function plotPrices(prices: ModelPriceDays | undefined): string {
  const all = prices?.days ?? [];
  const [first, last] = [all[0], all.at(-1)];
  if (first === undefined || last === undefined || first === last) {
    return "";
  }
  const output = (day: PriceDay) => day.outputPicoUsdPerToken;
  const input = (day: PriceDay) => day.inputPicoUsdPerToken;
  const lines = output(last) === 0n ? [input] : [input, output];
  const top = Math.max(1, ...all.flatMap((day) => lines.map((of) => Number(of(day)))));
  const y = (value: bigint) => round(height - edge - (Number(value) / top) * (height - 2 * edge));
  const paths = lines.map((of, index) => `<path class="${index === 0 ? "in" : "out"}" d="${steps(all, of, y)}"/>`);
  const told = lines.map((of, index) => {
    const [from, to] = [of(first), of(last)].map((rate) => `$${formatRate(rate)}`);
    return `${index === 0 ? "input" : "output"} ${from === to ? `${to} throughout` : `from ${from} to ${to}`}`;
  });
  const label = `Price of the last ${all.length} days per 1M tokens: ${told.join(", ")}.`;
  return `<svg class="plot" viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}">${paths.join("")}</svg>`;
}

/** The days stand at the right end: a model that is new has nothing at the left. */
function steps(all: readonly PriceDay[], of: (day: PriceDay) => bigint, y: (value: bigint) => number): string {
  const x = (index: number) => round(((days - all.length + index) / days) * width);
  let path = "";
  let before: number | undefined;
  for (const [index, day] of all.entries()) {
    const at = y(of(day));
    if (before === undefined) {
      path = `M${x(index)} ${at}`;
    } else if (at !== before) {
      path += `H${x(index)}V${at}`;
    }
    before = at;
  }
  return `${path}H${width}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
