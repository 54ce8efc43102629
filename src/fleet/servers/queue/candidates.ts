import type { Member } from "../member.ts";
import type { Wish } from "../wish.ts";
import type { KeptServers } from "./kept-servers.ts";

/**
 * The servers that can take a wish. The lists are used again for the next one, and written over from the start: emptied first,
 * they would lose their memory, and take half of all that a choice leaves to the garbage collector.
 */
export class Candidates {
  /** Those that can take it now. */
  readonly all: Member[] = [];
  /** Those of them whose KV cache has room for it. */
  readonly roomy: Member[] = [];

  /** Finds those for a wish of so many tokens, without the servers that are kept for others. */
  find(members: readonly Member[], { failed }: Wish, tokens: number, kept: KeptServers | undefined): void {
    const { all, roomy } = this;
    const mayExclude = failed.size > 0 || kept?.isEmpty === false;
    let [found, withRoom] = [0, 0];
    for (const member of members) {
      if (!member.available || (mayExclude && (failed.has(member) || kept?.has(member)))) {
        continue;
      }
      all[found++] = member;
      if (member.kv.takes(tokens)) {
        roomy[withRoom++] = member;
      }
    }
    all.length = found;
    roomy.length = withRoom;
  }
}
