import { Gauge, type Registry } from "prom-client";
import type { Prices } from "#src/money/model/rates.ts";

/** Shows live prices at every scrape. */
export function watchPrices(registry: Registry, prices: Prices, models: () => readonly string[]): void {
  new Gauge({
    name: "tollgate_price_usd_per_million_tokens",
    help: "Live price in USD per 1M tokens, by model and kind: input or output.",
    labelNames: ["model", "kind"],
    registers: [registry],
    collect() {
      this.reset(); // a reload may have removed a model
      for (const model of models()) {
        const { input, output } = prices.live(model); // pico-USD a token, which is micro-USD per 1M tokens
        this.set({ model, kind: "input" }, input / 1e6);
        this.set({ model, kind: "output" }, output / 1e6);
      }
    },
  });
}
