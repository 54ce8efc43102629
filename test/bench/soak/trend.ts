/** A reading at a time. */
export type Point = readonly [at: number, value: number];

/** Theil and Sen's estimate of a trend: the median of all slopes between two points. A few odd readings do not move it. */
export function slope(points: readonly Point[]): number {
  const slopes = points
    .flatMap(([x, y], at) => points.slice(at + 1).map(([nextX, nextY]) => (nextY - y) / (nextX - x)))
    .sort((a, b) => a - b);
  const middle = slopes.length / 2;
  return ((slopes[Math.ceil(middle) - 1] ?? Number.NaN) + (slopes[Math.floor(middle)] ?? Number.NaN)) / 2;
}

/** The lowest point of each of so many equal stretches: what is left of a heap when its garbage is gone. */
export function floors(points: readonly Point[], stretches: number): Point[] {
  const [first] = points[0] ?? [0];
  const [last] = points.at(-1) ?? [0];
  const lowest = new Map<number, Point>();
  for (const point of points) {
    const stretch = Math.min(stretches - 1, Math.floor(((point[0] - first) / (last - first || 1)) * stretches));
    const before = lowest.get(stretch);
    if (before === undefined || point[1] < before[1]) {
      lowest.set(stretch, point);
    }
  }
  return [...lowest.values()];
}
