import type { Interceptor } from "@connectrpc/connect";
import type { Overload } from "../../../lib/overload/monitor.ts";
import type { Gate } from "../../grpc/server/gate.ts";
import { authenticate } from "../../interceptors/authenticate.ts";
import { hideErrors } from "../../interceptors/errors.ts";
import { logCalls } from "../../interceptors/log.ts";
import { observeCalls } from "../../interceptors/observe.ts";
import { limitRates } from "../../interceptors/rate-limit.ts";
import { shedLoad } from "../../interceptors/shed-load.ts";
import type { RateLimits } from "../../metering/interface.ts";
import { unavailable } from "../../metering/ledger/unavailable.ts";
import { isUnreachable } from "../../storage/unreachable.ts";
import { traceCalls } from "../../telemetry/traces/calls.ts";
import type { Foundation } from "./foundation.ts";

/** What every call passes, outermost first. */
export function createInterceptors(
  { tracer, metrics, clock, logger }: Foundation,
  gate: Gate,
  overload: Overload,
  rateLimits: RateLimits,
): readonly Interceptor[] {
  return [
    ...(tracer === undefined ? [] : [traceCalls(tracer)]),
    observeCalls(clock, [logCalls(logger, clock), metrics.calls]),
    shedLoad(overload),
    hideErrors(logger, (error) =>
      isUnreachable(error) ? unavailable("The database cannot be reached at the moment.", error) : undefined,
    ),
    authenticate(gate),
    limitRates(rateLimits),
  ];
}
