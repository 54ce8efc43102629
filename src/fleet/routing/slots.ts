import type { Member } from "../servers/member.ts";

/** The number in the tables of prefix routing of a member that has one. */
export function toSlot({ slot }: Member): number {
  return slot as number;
}

/** Gives those who have none the lowest free numbers. Returns one more than the highest. */
export function assignSlots(members: readonly Member[]): number {
  const taken = new Set(members.map(({ slot }) => slot));
  let free = 0;
  let width = 0;
  for (const member of members) {
    while (member.slot === undefined && taken.has(free)) {
      free++;
    }
    member.slot ??= free++;
    width = Math.max(width, member.slot + 1);
  }
  return width;
}
