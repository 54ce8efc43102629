/** The sum of a metric's samples in Prometheus' text format, of those whose labels hold a text. Undefined: none. */
export function readMetric(exposition: string, name: string, labels = ""): number | undefined {
  const values = exposition
    .split("\n")
    .filter((line) => line.startsWith(name) && /^[ {]/.test(line.slice(name.length)) && line.includes(labels))
    .map((line) => Number(line.slice(line.lastIndexOf(" ") + 1)));
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0);
}
