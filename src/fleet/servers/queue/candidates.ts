import type { Member } from "../member.ts";
import type { Wish } from "../wish.ts";
import type { KeptServers } from "./kept-servers.ts";

/**
 * The servers that can take a wish. The lists are reused for each wish and overwritten from the start. Emptying them
 * would drop their memory, which would cause half of the garbage that a choice makes.
 */
export class Candidates {
  /** Servers that can take the wish now. */
  readonly all: Member[] = [];
  /** Of these, the servers whose KV cache has room for it. */
  readonly roomy: Member[] = [];

  /** Finds the servers for a wish of this many tokens, without the servers that are kept for others. */
  find(members: readonly Member[], { failed }: Wish, tokens: number, kept: KeptServers): void {
    const { all, roomy } = this;
    const mayExclude = failed.size > 0 || !kept.isEmpty;
    let [found, withRoom] = [0, 0];
    for (const member of members) {
      if (!member.available || (mayExclude && (failed.has(member) || kept.has(member)))) {
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
