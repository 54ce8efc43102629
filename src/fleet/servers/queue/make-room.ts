import type { Wish } from "../wish.ts";
import type { Lanes } from "./lanes.ts";

/**
 * Makes room for one more waiter in a queue of at most `most`. One key may have half of it. In a full queue, in the lowest
 * class, the last waiter of the key with the most waiters gives way. Throws `refusal` where the new waiter itself would
 * give way, as when everybody else is of a higher class.
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
