import type { Overload } from "#lib/overload/monitor.ts";
import { checkHead } from "../connection/check-head.ts";
import type { ProxiedRequests } from "../connection/proxied-requests.ts";
import { healthPath } from "../exchange.ts";
import { overloaded } from "../overloaded.ts";
import type { Layer } from "./layer.ts";

/** Seconds after which a shed request may be retried. */
const retryShedAfter = 5;

/** Paths whose answers cost nothing. Without them, a balancer would move this process's load to the others. */
const alwaysAnswered: ReadonlySet<string> = new Set(["/", healthPath]);

/** Refuses requests with an invalid head, beyond the process's capacity, or beyond one client's share. */
export function admit(overload: Overload, proxied: ProxiedRequests): Layer {
  return (context, next) => {
    const { exchange, path } = context;
    checkHead(exchange.request, exchange.response);
    if (overload.shortage !== undefined && !alwaysAnswered.has(path)) {
      exchange.runtime.observer.refused("overload");
      throw overloaded("The service has more work than it can do at the moment.", retryShedAfter);
    }
    proxied.admit(exchange);
    return next();
  };
}
