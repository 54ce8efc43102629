/**
 * Adds up the samples of a metric over their labels. Undefined: there is none.
 * https://prometheus.io/docs/instrumenting/exposition_formats/
 */
export function metricSum(text: string, name: string): number | undefined {
  let sum: number | undefined;
  for (const line of text.split("\n")) {
    if (!line.startsWith(name)) continue;
    const next = line[name.length];
    if (next !== "{" && next !== " ") continue;
    const value = Number(
      line
        .slice(line.lastIndexOf("}") + 1 || name.length)
        .trim()
        .split(" ")[0],
    );
    if (Number.isFinite(value)) sum = (sum ?? 0) + value;
  }
  return sum;
}
