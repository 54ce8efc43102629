import { type Command, InvalidArgumentError, Option } from "commander";
import { simulatedNames } from "#lib/inference/engine-names.ts";
import type { SimulateOptions } from "#src/compose/simulate.ts";
import type { ModelOptions } from "../../../simulator/options.ts";
import { logOption } from "../serve/log-option.ts";
import { amount, port, words } from "../shared/arguments.ts";
import { addSimStripe } from "./stripe.ts";

/** The kinds of models: `ID=KIND` on the command line. */
const kinds: Record<string, Omit<ModelOptions, "id">> = {
  plain: {},
  always: { thinking: { mode: "always" } },
  default_off: { thinking: { mode: "default_off" } },
  default_on: { thinking: { mode: "default_on" } },
  depths: { thinking: { mode: "default_off", depths: true } },
  embedding: { kind: "embedding" },
};

/** `tollgate sim` */
export function addSim(program: Command): void {
  const sim = program
    .command("sim")
    .enablePositionalOptions()
    .description("run a simulated GPU server")
    .option("--host <address>", "the address to listen at", "127.0.0.1")
    .option("--port <port>", "the port to listen at", port, 8000)
    .option("--models <ids>", `ids with commas between; ID=KIND for ${Object.keys(kinds).join(", ")}`, models)
    .addOption(
      new Option("--dialect <engine>", "the engine whose HTTP it speaks").choices(simulatedNames).default("vllm"),
    )
    .option("--speed <factor>", "how many times faster than a real GPU; 0: no delay", amount, 1)
    .option("--loading <ms>", "how long it loads its models after the start and answers 503", amount, 0)
    .option("--seed <n>", "the seed of requests that have none", amount, 0)
    .addOption(logOption())
    .action(async (options: SimulateOptions) => (await import("#src/compose/index.ts")).simulate(options));
  addSimStripe(sim);
}

function models(text: string, before: readonly ModelOptions[] = []): ModelOptions[] {
  return [...before, ...words(text).map(model)];
}

function model(text: string): ModelOptions {
  const [, id = text, kind = "plain"] = /^(.+)=([a-z_]+)$/.exec(text) ?? [];
  const traits = kinds[kind];
  if (!traits) {
    throw new InvalidArgumentError(`${kind} is none of ${Object.keys(kinds).join(", ")}.`);
  }
  return { id, ...traits };
}
