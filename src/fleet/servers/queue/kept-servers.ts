import type { Member } from "../member.ts";

/** Servers that are kept free at a time; whoever comes after so many does not try. */
const mostKept = 8;

/** Servers that are kept free for requests that wait for room on them: large requests would starve. */
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

  /** Keeps that one of some servers that has the fewest tokens in flight. */
  keepOneOf(members: readonly Member[]): void {
    this.#kept.add(members.reduce((one, other) => (other.machine.knownTokens < one.machine.knownTokens ? other : one)));
  }

  /** Lets go of all of them; those that `serve` keeps are kept from then on. */
  renew(serve: () => void): void {
    for (const { machine } of this.#kept) {
      machine.keptFor = undefined;
    }
    this.#kept.clear();
    serve();
    for (const member of this.#kept) {
      member.machine.keptFor = member;
    }
  }

  /** Somebody waits no longer, for whom they may have been kept: all who wait may have them. */
  free(): void {
    for (const member of [...this.#kept]) {
      member.freed();
    }
  }
}
