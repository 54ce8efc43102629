import type { Member } from "../servers/member.ts";

/** The member's index in the tables of prefix routing. The member must have one. */
export function toSlot({ slot }: Member): number {
  return slot as number;
}

/** Gives members without a slot the lowest free ones. Returns the highest slot plus one. */
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
