import { document, round, text } from "../plots/svg.ts";
import type { Frame } from "./cpu-profile.ts";

const width = 1200;
const row = 16;
/** Narrower frames, in pixels, are left out. */
const narrowest = 0.6;
const letter = 6.2;

/** Colours tell whose code it is. */
const colours = { ours: "#8fb8de", library: "#e8b98f", node: "#b7d7a8", native: "#cccccc" };

/**
 * A flame graph: a box a function, as wide as the time spent in it and in what it called, which stands on
 * top of it. Its tooltip tells the place and the time.
 *
 * @param unit what one of the `count` units of work is called, such as "request"
 */
export function flameGraph(title: string, root: Frame, count: number, unit: string): string {
  const boxes: { frame: Frame; x: number; depth: number }[] = [];
  const scale = width / root.total;
  const place = (frame: Frame, x: number, depth: number) => {
    if (frame.total * scale < narrowest) {
      return;
    }
    boxes.push({ frame, x, depth });
    let at = x;
    for (const child of frame.children.toSorted((a, b) => b.total - a.total)) {
      place(child, at, depth + 1);
      at += child.total * scale;
    }
  };
  place(root, 0, 0);
  const rows = Math.max(...boxes.map(({ depth }) => depth)) + 1;
  const top = 44;
  const height = top + rows * row + 4;
  const share = (frame: Frame) =>
    `${round(frame.total / count)} µs a ${unit}, ${round((100 * frame.total) / root.total)} %`;
  return document(width, height, [
    text(8, 18, title, 'font-size="15"'),
    text(
      8,
      36,
      `${round(root.total / count)} µs a ${unit} on the main thread while it was sampled. Blue: Tollgate, orange: libraries, green: Node, grey: native.`,
    ),
    ...boxes.map(({ frame, x, depth }) => {
      const y = height - (depth + 1) * row - 4;
      const wide = frame.total * scale;
      const label = frame.name.slice(0, Math.max(0, Math.floor((wide - 4) / letter)));
      const box = `<rect x="${round(x)}" y="${y}" width="${round(wide)}" height="${row - 1}" fill="${colourOf(frame)}"/>`;
      const tip = `<title>${escaped(`${frame.name} ${frame.place}: ${share(frame)}`)}</title>`;
      return `<g>${tip}${box}${label.length > 2 ? text(x + 2, y + 11, label, 'font-size="10"') : ""}</g>`;
    }),
  ]);
}

function colourOf({ place }: Frame): string {
  if (place.startsWith("node_modules/")) {
    return colours.library;
  }
  if (place.startsWith("node:")) {
    return colours.node;
  }
  return place === "native" ? colours.native : colours.ours;
}

function escaped(content: string): string {
  return content.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
