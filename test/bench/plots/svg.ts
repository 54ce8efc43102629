// The few shapes that the benchmark's charts are made of, so that no plotting program is needed.

/** Colours of the series, told apart by people who see colours differently too. */
const colours = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#999999", "#222222"];

export function colour(series: number): string {
  return colours[series % colours.length] ?? "#000";
}

/** A whole picture. */
export function document(width: number, height: number, parts: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...parts,
    "</svg>\n",
  ].join("\n");
}

/** Text that starts at a point unless the attributes anchor it elsewhere. */
export function text(x: number, y: number, content: string, attributes = ""): string {
  const escaped = content.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<text x="${round(x)}" y="${round(y)}" ${attributes}>${escaped}</text>`;
}

export function line(x1: number, y1: number, x2: number, y2: number, attributes: string): string {
  return `<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}" ${attributes}/>`;
}

/** To a tenth of a pixel. */
export function round(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** A value as people read it: to a tenth, and from a thousand on whole, with its thousands apart. */
export function tell(value: number): string {
  return value.toLocaleString("en", { maximumFractionDigits: Math.abs(value) < 1000 ? 1 : 0 });
}

/** The room of a name in a legend. */
const nameWidth = 130;
const nameHeight = 16;

/** How wide a legend is drawn. */
export function legendWidth(names: readonly string[]): number {
  return names.length * nameWidth;
}

/** How high a legend is drawn that may be so wide. */
export function legendHeight(names: readonly string[], width: number): number {
  return nameHeight * Math.ceil(names.length / Math.floor(width / nameWidth));
}

/** The names of the series beside their colours, in as many rows as the width asks for. */
export function legend(names: readonly string[], x: number, y: number, width = legendWidth(names)): string {
  const inRow = Math.floor(width / nameWidth);
  return names
    .map((name, at) => {
      const left = x + (at % inRow) * nameWidth;
      const top = y + Math.floor(at / inRow) * nameHeight;
      return `<rect x="${left}" y="${top}" width="10" height="10" fill="${colour(at)}"/>${text(left + 15, top + 9, name)}`;
    })
    .join("");
}

/** The next number of the form 1, 2, 2.5 or 5 times a power of ten: its fifths are readable. */
export function niceCeiling(value: number): number {
  if (!(value > 0)) {
    return 1;
  }
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 2.5, 5, 10].find((step) => step * power >= value) ?? 10);
}
