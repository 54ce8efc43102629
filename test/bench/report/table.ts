/** Text in columns: the first to the left, the others to the right, as wide as their widest entry. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? "").length)));
  const format = (line: readonly string[]) =>
    widths
      .map((width, column) =>
        column === 0 ? (line[column] ?? "").padEnd(width) : (line[column] ?? "").padStart(width),
      )
      .join("  ")
      .trimEnd();
  const rule = widths.map((width) => "─".repeat(width)).join("──");
  return [format(head), rule, ...rows.map(format)].join("\n");
}

/** A number in three significant digits without an exponent; a dash for one that is missing. */
export function short(value: number): string {
  if (!Number.isFinite(value)) {
    return "–";
  }
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toFixed(digits);
}
