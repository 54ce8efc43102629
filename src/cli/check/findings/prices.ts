import type { Config } from "#src/config/schema.ts";
import type { Finding } from "../finding.ts";

/** Names the models whose prices fall while nobody asks them, which is rarely meant. */
export function checkPrices({ models }: Config): Finding[] {
  return models
    .filter(({ price }) => price.falls_when_idle && price.floor < 1)
    .map(({ id, price }) => ({
      part: `price ${id}`,
      status: "warning",
      message: `falls to ${price.floor} times its base while nobody asks, and money that comes in then keeps it for ever: leave price.falls_when_idle out, or raise price.floor`,
    }));
}
