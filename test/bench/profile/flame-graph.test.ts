import { expect, test } from "@jest/globals";
import type { Frame } from "./cpu-profile.ts";
import { flameGraph } from "./flame-graph.ts";

const frame = (name: string, place: string, self: number, children: Frame[] = []): Frame => ({
  name,
  place,
  self,
  total: children.reduce((sum, child) => sum + child.total, self),
  children,
});

const root = frame("(root)", "native", 0, [
  frame("small", "node:net", 100),
  frame("<large>", "src/a.ts", 300, [frame("called", "node_modules/b", 600)]),
  frame("tiny", "src/a.ts", 0.1),
]);

test("a box is as wide as its time, largest first, callers below", () => {
  const svg = flameGraph("title", root, 10, "request");
  const boxes = [...svg.matchAll(/<title>([^:]+):[^<]*<\/title><rect x="([\d.]+)" y="(\d+)" width="([\d.]+)"/g)].map(
    ([, name, x, y, width]) => [name, Number(x), Number(y), Math.round(Number(width))] as const,
  );
  expect(boxes.map(([name, x, , width]) => [name, x, width])).toEqual([
    ["(root) native", 0, 1200],
    ["&lt;large> src/a.ts", 0, 1080],
    ["called node_modules/b", 0, 720],
    ["small node", 1079.9, 120],
  ]);
  const [below, above, top] = boxes.map(([, , y]) => y);
  expect([(below ?? 0) - (above ?? 0), (above ?? 0) - (top ?? 0)]).toEqual([16, 16]);
});

test("tells time a unit and colours by whose code it is", () => {
  const svg = flameGraph("title", root, 10, "request");
  expect(svg).toContain("called node_modules/b: 60 µs a request, 60 %");
  expect(new Set([...svg.matchAll(/fill="(#[0-9a-f]{6})"/g)].map(([, fill]) => fill)).size).toBe(4);
});
