import type { Member } from "../member.ts";

/** The most servers that are kept free at a time. Later large requests keep none. */
const mostKept = 8;

/** Servers that are kept free for requests that wait for room on them. Otherwise large requests would starve. */
export class KeptServers {
  readonly #kept = new Set<Member>();

  get isEmpty(): boolean {
    return this.#kept.size === 0;
  }

  get isFull(): boolean {
    return this.#kept.size >= mostKept;
  }

  has(member: Member): boolean {
    return this.#kept.has(member);
  }

  /** Keeps free the server with the fewest tokens in flight. */
  keepOneOf(members: readonly Member[]): void {
    this.#kept.add(members.reduce((one, other) => (other.machine.knownTokens < one.machine.knownTokens ? other : one)));
  }

  /**
   * Releases all kept servers. Those that `serve` keeps are kept from then on; the others have room for other models that
   * wait.
   */
  renew(serve: () => void): void {
    const before = [...this.#kept];
    for (const member of before) {
      if (member.machine.keptFor === member) {
        member.machine.keptFor = undefined;
      }
    }
    this.#kept.clear();
    serve();
    for (const member of this.#kept) {
      member.machine.keptFor = member;
    }
    for (const member of before) {
      if (member.machine.keptFor === undefined) {
        member.machine.unkept(member);
      }
    }
  }

  /** A request stopped waiting, and servers may have been kept for it: offers them to all that wait. */
  free(): void {
    for (const member of [...this.#kept]) {
      member.freed();
    }
  }
}
