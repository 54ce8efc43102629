import type { Wish } from "../wish.ts";
import type { Lanes } from "./lanes.ts";

/**
 * Sees that there is room for one more in a queue of so many. One key has half of it at most, and in a full queue the last
 * one of a lower class gives way, or of the key with the most in the class. Throws `refusal` where that would be the one who
 * asks, as it would be behind everybody of a higher class.
 */
export function makeRoom(
  line: Lanes,
  most: number,
  { key, serviceClass = "standard" }: Wish,
  refusal: (why: string) => Error,
): void {
  const waiting = line.lengthOf(key, serviceClass);
  if (waiting > 0 && waiting >= most / 2) {
    throw refusal("the account's half of the queue is full");
  }
  if (line.length < most) {
    return;
  }
  const last = line.lastOfLowest(serviceClass);
  const isLower = last !== undefined && last.serviceClass !== serviceClass;
  const gives = isLower || (last !== undefined && line.lengthOf(last.key, last.serviceClass) > waiting + 1);
  if (last === undefined || !gives) {
    throw refusal("the queue is full");
  }
  line.remove(last);
  last.refuse(
    refusal(isLower ? "the queue is full of a higher class" : "the queue is full, and others have fewer in it"),
  );
}
