import type { Dice } from "../world/dice.ts";
import type { Timeline } from "../world/timeline.ts";

/** Does something again and again, at random times. Returns what ends it. */
export function recur(timeline: Timeline, dice: Dice, meanMs: number, act: () => void): () => void {
  let isOver = false;
  const next = () =>
    timeline.after(dice.exponential(meanMs), () => {
      if (!isOver) {
        next();
        act();
      }
    });
  next();
  return () => {
    isOver = true;
  };
}
