/** A table, padded so that it reads as one in its source. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll("|", "\\|")));
  const widths = head.map((_, column) => Math.max(3, ...lines.map((line) => line[column]?.length ?? 0)));
  const format = (cells: readonly string[]) =>
    `| ${widths.map((width, column) => (cells[column] ?? "").padEnd(width)).join(" | ")} |`;
  const [first = [], ...others] = lines;
  return [format(first), format(widths.map((width) => "-".repeat(width))), ...others.map(format)].join("\n");
}

export function code(text: string): string {
  return `\`${text}\``;
}

const begin = "<!-- generated: npm run generate -->";
const endMark = "<!-- end of what is generated -->";

/** A page with its generated part replaced; what people wrote around it stays. */
export function withGenerated(page: string, part: string): string {
  const [before, rest] = page.split(begin);
  const [, after] = rest?.split(endMark) ?? [];
  if (before === undefined || after === undefined) {
    throw new Error(`a page has no "${begin}" … "${endMark}"`);
  }
  return `${before}${begin}\n\n${part}\n\n${endMark}${after}`;
}
