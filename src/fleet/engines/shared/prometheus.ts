/**
 * Sums the samples of a metric over their labels. Undefined: there are none.
 * https://prometheus.io/docs/instrumenting/exposition_formats/
 */
export function metricSum(text: string, name: string): number | undefined {
  let sum: number | undefined;
  for (const line of text.split("\n")) {
    if (!line.startsWith(name)) {
      continue;
    }
    const next = line[name.length];
    if (next !== "{" && next !== " ") {
      continue;
    }
    const value = Number(
      line
        .slice(line.lastIndexOf("}") + 1 || name.length)
        .trim()
        .split(" ")[0],
    );
    if (Number.isFinite(value)) {
      sum = (sum ?? 0) + value;
    }
  }
  return sum;
}

/** The labels of a metric's first sample, which carry an information metric's content. Empty: there is no sample. */
export function readLabels(text: string, name: string): Readonly<Record<string, string>> {
  return readAllLabels(text, name)[0] ?? {};
}

/** The most samples that are read. An engine may have one for each of its parts. */
const mostSamples = 64;

/** The labels of each sample of a metric. */
export function readAllLabels(text: string, name: string): readonly Readonly<Record<string, string>>[] {
  const lines = text.split("\n").filter((one) => one.startsWith(`${name}{`));
  return lines.slice(0, mostSamples).map((line) => labelsIn(line, name));
}

function labelsIn(line: string, name: string): Record<string, string> {
  const labels: Record<string, string> = {};
  const next = /[{,]\s*(\w{1,64})="((?:[^"\\]|\\.){0,1024})"/y; // sticky and bounded: looks at each character once
  next.lastIndex = name.length;
  for (let label = next.exec(line); label !== null; label = next.exec(line)) {
    labels[label[1] ?? ""] = label[2] ?? "";
  }
  return labels;
}
