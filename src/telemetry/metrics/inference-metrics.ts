import { Counter, type Registry } from "prom-client";
import type { Clock } from "#lib/time/clock.ts";
import type { EngineUsage } from "#src/fleet/engines/interface.ts";
import type { EmbeddingsObserver } from "#src/services/embeddings/interface.ts";
import type { GenerationObserver, InferenceObserver } from "#src/services/inference/interface.ts";
import { TalliedCounter } from "../tallies/counter.ts";
import { TalliedHistogram } from "../tallies/histogram.ts";

/** Measures the work of models. The label is a model's id, which comes from the configuration. */
export function inferenceMetrics(
  registry: Registry,
  clock: Clock,
  models: () => readonly string[],
): InferenceObserver & EmbeddingsObserver {
  const registers = [registry];
  const tokens = new TalliedCounter({
    name: "tollgate_tokens_total",
    help: "Tokens by the engines' own count. Of the input some are cached_input, of the output some are reasoning.",
    labelNames: ["model", "kind"],
    registers,
  });
  const firstToken = new TalliedHistogram({
    name: "tollgate_time_to_first_token_seconds",
    help: "Time from a request's arrival at the core to the engine's first output: checks, queue and prompt included.",
    labelNames: ["model"],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
    registers,
  });
  const interToken = new TalliedHistogram({
    name: "tollgate_inter_token_seconds",
    help: "A request's mean time between output tokens, from its first output to its last.",
    labelNames: ["model"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.2, 0.5, 1],
    registers,
  });
  const unbilled = new Counter({
    name: "tollgate_unbilled_generations_total",
    help: "Generations that an engine began but gave no token count for, so that nothing could be billed.",
    labelNames: ["model"],
    registers,
    collect() {
      // Begins at 0, because a counter that first appears as 1 shows no increase to an alarm.
      for (const model of models()) {
        this.inc({ model }, 0);
      }
    },
  });

  class Generation implements GenerationObserver {
    readonly #receivedAt = clock.monotonic();
    #beganAt = 0;

    began(model: string): void {
      this.#beganAt = clock.monotonic();
      firstToken.observe((this.#beganAt - this.#receivedAt) / 1000, model);
    }

    ended(model: string, usage: EngineUsage): void {
      tokens.add(usage.inputTokens, model, "input");
      tokens.add(usage.outputTokens, model, "output");
      if (usage.reasoningTokens) {
        tokens.add(usage.reasoningTokens, model, "reasoning");
      }
      if (usage.cachedInputTokens) {
        tokens.add(usage.cachedInputTokens, model, "cached_input");
      }
      const gaps = usage.outputTokens - 1;
      if (gaps > 0) {
        interToken.observe((clock.monotonic() - this.#beganAt) / 1000 / gaps, model);
      }
    }

    unbilled(model: string): void {
      unbilled.inc({ model });
    }
  }

  return {
    received: () => new Generation(),
    embedded: (model, inputTokens) => tokens.add(inputTokens, model, "input"),
  };
}
