import type { ServiceClass } from "#lib/limits/service-class.ts";
import type { RoutingRequest } from "./choice/policy.ts";
import type { Member } from "./member.ts";

/** A request for a server. */
export interface Wish {
  readonly route: RoutingRequest;
  /** Whose turn it takes in the queue. */
  readonly key: string;
  /** Absent: standard. */
  readonly serviceClass?: ServiceClass | undefined;
  /** How many times the work of others the key may be served. Absent: 1. */
  readonly turnWeight?: number | undefined;
  /** Servers that have failed the request. */
  readonly failed: ReadonlySet<Member>;
  /** When it stops waiting, on the monotonic clock. */
  readonly deadline: number;
  /**
   * When its class is promised the first token, on the monotonic clock. The request is refused when that is impossible.
   * Absent: it waits.
   */
  readonly promisedBy?: number | undefined;
  /** Called when it is refused for that reason. */
  readonly onShed?: () => void;
}
