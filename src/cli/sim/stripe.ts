import type { Command } from "commander";
import type { SimulateStripeOptions } from "#src/compose/simulate.ts";
import { logOption } from "../serve/log-option.ts";
import { port } from "../shared/arguments.ts";

/** `tollgate sim stripe` */
export function addSimStripe(sim: Command): void {
  sim
    .command("stripe")
    .description("run a stand-in for Stripe, for trying out payments: no money moves")
    .option("--host <address>", "the address to listen at", "127.0.0.1")
    .option("--port <port>", "the port to listen at", port, 8600)
    .option("--webhook <url>", "where events go; TOLLGATE_STRIPE_WEBHOOK_SECRET signs them, or a new secret")
    .addOption(logOption())
    .action(async (options: SimulateStripeOptions) => (await import("#src/compose/index.ts")).simulateStripe(options));
}
