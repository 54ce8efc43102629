import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { noteCounted } from "#lib/door/paced-response.ts";
import type { Intake } from "#lib/overload/intake.ts";
import type { Overload } from "#lib/overload/monitor.ts";
import type { ProxiedRequests } from "../connection/proxied-requests.ts";
import { type Exchange, healthPath } from "../exchange.ts";
import { refusedHere } from "../refused-here.ts";
import type { Layer } from "./layer.ts";

/** Seconds after which a shed request may be retried. */
const retryShedAfter = 5;

/** Paths whose answers cost nothing. Without them, a balancer would move this process's load to the others. */
const alwaysAnswered: ReadonlySet<string> = new Set(["/", healthPath]);

/**
 * Refuses requests beyond the process's capacity, or beyond one client's share, and lets the others begin in their turn.
 */
export function admit(overload: Overload, intake: Intake, proxied: ProxiedRequests): Layer {
  const refuse = (exchange: Exchange): never => {
    noteCounted(exchange.response); // who is sent away is to try elsewhere at once
    exchange.runtime.observer.refused("overload");
    const what = "The service has more work than it can do at the moment.";
    throw refusedHere(Reason.OVERLOADED, what, retryShedAfter);
  };
  return (context, next) => {
    const { exchange, path } = context;
    if (alwaysAnswered.has(path)) {
      proxied.admit(exchange);
      return next();
    }
    if (overload.shortage !== undefined) {
      refuse(exchange);
    }
    proxied.admit(exchange);
    const turn = intake.enter(() => exchange.address ?? "");
    return turn === undefined
      ? next()
      : turn.then((isTaken) => {
          if (!isTaken) {
            refuse(exchange);
          }
          return exchange.isGone ? undefined : next();
        });
  };
}
