import type { Tollgate } from "../support/tollgate.ts";

/** One sample of a scrape: a name with labels, such as `tollgate_tokens_total{model="m",kind="input"}`, and its value. */
export type Samples = ReadonlyMap<string, number>;

/** What a running process exports. */
export interface Scrape {
  readonly text: string;
  /** Types by metric name: counter, gauge, histogram, summary. */
  readonly types: ReadonlyMap<string, string>;
  /** What each metric's help says. */
  readonly help: ReadonlyMap<string, string>;
  readonly samples: Samples;
  /** Names of series as queries may use them: histograms by their _bucket, _sum and _count. */
  readonly series: ReadonlySet<string>;
}

export async function scrape(tollgate: Tollgate): Promise<Scrape> {
  const response = await fetch(`http://${tollgate.addresses.admin}/metrics`);
  const text = await response.text();
  const lines = text.split("\n");
  const comments = (word: string) =>
    new Map(
      lines
        .filter((line) => line.startsWith(`# ${word} `))
        .map((line) => {
          const [, , name = "", ...rest] = line.split(" ");
          return [name, rest.join(" ")] as const;
        }),
    );
  const types = comments("TYPE");
  const samples = new Map(
    lines
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))] as const),
  );
  const series = [...types].flatMap(([name, type]) =>
    type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );
  return { text, types, help: comments("HELP"), samples, series: new Set(series) };
}
