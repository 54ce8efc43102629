import type { Model } from "../engine/model.ts";

/** The load of a model's GPU, and its work since the start. */
export interface ModelMetrics {
  readonly running: number;
  readonly waiting: number;
  /** The part of the KV memory in use, 0 to 1, and its size in tokens. */
  readonly kvUsage: number;
  readonly kvTokens: number;
  readonly promptTokens: number;
  readonly generatedTokens: number;
  /** Prompt tokens looked up, and found, in the prefix cache. */
  readonly cacheQueries: number;
  readonly cacheHits: number;
  readonly finished: number;
  readonly aborted: number;
  readonly preempted: number;
}

export function formatMetrics({ scheduler, gpu }: Model): ModelMetrics {
  const { running, waiting, cache, counters } = scheduler;
  return { running, waiting, kvUsage: cache.usage, kvTokens: gpu.kvTokens, ...counters };
}

/** A metric to publish: its name, its type, its value for each model, and further labels. */
export type Figure = readonly [
  name: string,
  type: "gauge" | "counter",
  read: (metrics: ModelMetrics) => number,
  labels?: string,
];

/** Metrics of all models in Prometheus text format. */
export function prometheus(figures: readonly Figure[], models: Iterable<Model>, label: string): string {
  const measured = Array.from(models, (model) => ({ model: model.traits.id, metrics: formatMetrics(model) }));
  return figures
    .map(([name, type, read, labels], at) => {
      const more = labels === undefined ? "" : `,${labels}`;
      const lines = measured.map(
        ({ model, metrics }) => `${name}{${label}=${JSON.stringify(model)}${more}} ${read(metrics)}\n`,
      );
      const head = figures[at - 1]?.[0] === name ? "" : `# TYPE ${name} ${type}\n`;
      return head + lines.join("");
    })
    .join("");
}
