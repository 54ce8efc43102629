import type { ServiceClass } from "../../../lib/service-class.ts";
import type { RoutingRequest } from "../routing/policy.ts";
import type { Member } from "./member.ts";

/** A request for a server. */
export interface Wish {
  readonly route: RoutingRequest;
  /** Whose turn it takes in the queue. */
  readonly key: string;
  /** Absent: standard. */
  readonly serviceClass?: ServiceClass | undefined;
  /** How much more than others the key may be served. Absent: as much. */
  readonly turnWeight?: number | undefined;
  /** Servers that have failed it. */
  readonly failed: ReadonlySet<Member>;
  /** When it stops waiting, on the monotonic clock. */
  readonly deadline: number;
  /** When its class is promised the first token, on the monotonic clock; it is refused when that cannot be. Absent: it waits. */
  readonly promisedBy?: number | undefined;
  /** Is told that it is refused for that. */
  readonly onShed?: () => void;
}
