import { comfortable } from "#lib/money/comfortable.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { ModelConfig } from "#src/config/schema.ts";
import type { PicoUsd } from "../model/interface.ts";
import type { Rates } from "../model/rates.ts";
import type { PriceList } from "./price-list.ts";

/** A smaller move, as a part of the price, is not worth a version. */
const smallestMove = 0.01;
/** By so much of the interval a move may come early: clocks and timers differ a little. */
const slack = 0.05;
const million = 1_000_000n;

interface Dependencies {
  readonly prices: PriceList;
  readonly models: () => readonly ModelConfig[];
  /** The part of a model's capacity that is in use; above 1 when requests wait. */
  readonly utilisation: (model: string) => number;
  /** The most that a price moves in one step, as a part of itself. */
  readonly maxStep: number;
  readonly intervalMs: number;
  readonly clock: Clock;
}

/**
 * Moves each price towards the one that its model's utilisation asks for: the floor when idle, the base at a
 * comfortable utilisation, the ceiling when full, and a straight line in between. Steps are bounded, so callers see a
 * price drift, never jump. A model without traffic keeps its price unless it is configured to fall: money that comes in
 * would keep the low price for ever, though nobody used what it was low for. Returns the function that takes one step.
 */
export function createPriceController(parts: Dependencies): () => Promise<void> {
  const { prices, models, utilisation, maxStep, intervalMs, clock } = parts;
  return async () => {
    const moving = new Map(
      models()
        .filter(({ price }) => price.floor !== price.ceiling)
        .map((model) => [model.id, model.price]),
    );
    if (moving.size === 0) {
      return;
    }
    const unchangedSince = new Date(clock.now() - intervalMs * (1 - slack));
    await prices.move(unchangedSince, ({ model, live, base }) => {
      const bounds = moving.get(model);
      if (bounds === undefined) {
        return undefined;
      }
      const inUse = utilisation(model);
      const multiple = multipleAt(inUse, bounds);
      const asked = { input: scale(base.input, multiple), output: scale(base.output, multiple) };
      const target = inUse > 0 || bounds.falls_when_idle ? asked : notBelow(live, asked);
      const rates = step(live, target, maxStep);
      return rates && { ...rates, utilisation: inUse };
    });
  };
}

/** The multiple of the base price that a utilisation asks for. */
export function multipleAt(utilisation: number, { floor, ceiling }: { floor: number; ceiling: number }): number {
  const use = Math.min(1, Math.max(0, utilisation));
  if (use <= comfortable) {
    return floor + ((1 - floor) * use) / comfortable;
  }
  return 1 + ((ceiling - 1) * (use - comfortable)) / (1 - comfortable);
}

/** The rates one bounded step closer to the target. Undefined: the step would be too small. */
function step(live: Rates, target: Rates, maxStep: number): Rates | undefined {
  const near = (from: PicoUsd, to: PicoUsd) => Math.abs(to - from) <= scale(from, smallestMove);
  if (near(live.input, target.input) && near(live.output, target.output)) {
    return undefined;
  }
  return { input: approach(live.input, target.input, maxStep), output: approach(live.output, target.output, maxStep) };
}

function notBelow(live: Rates, { input, output }: Rates): Rates {
  return { input: Math.max(live.input, input), output: Math.max(live.output, output) };
}

function approach(from: PicoUsd, to: PicoUsd, maxStep: number): PicoUsd {
  const most = Math.max(1, scale(from, maxStep));
  return from + Math.min(most, Math.max(-most, to - from));
}

/** A rate times a factor, exact to a millionth of the factor and rounded down to a whole rate. */
function scale(rate: PicoUsd, factor: number): PicoUsd {
  return Number((BigInt(rate) * BigInt(Math.round(factor * 1e6))) / million);
}
