import type { Member } from "../member.ts";
import type { Wish } from "../wish.ts";
import type { KeptServers } from "./kept-servers.ts";

/** The servers that can take a wish. Its lists are used again for the next one: this is done for every request. */
export class Candidates {
  /** Those that can take it now. */
  readonly all: Member[] = [];
  /** Those of them whose KV cache has room for it. */
  readonly roomy: Member[] = [];

  /** Finds those for a wish of so many tokens, without the servers that are kept for others. */
  find(members: readonly Member[], { failed }: Wish, tokens: number, kept: KeptServers | undefined): void {
    this.all.length = 0;
    this.roomy.length = 0;
    for (const member of members) {
      if (!member.available || failed.has(member) || kept?.has(member)) {
        continue;
      }
      this.all.push(member);
      if (member.kv.takes(tokens)) {
        this.roomy.push(member);
      }
    }
  }
}
