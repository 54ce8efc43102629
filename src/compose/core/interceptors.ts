import type { Overload } from "../../../lib/overload/monitor.ts";
import { recordChanges } from "../../audit/record-changes.ts";
import type { ServiceRegistration } from "../../grpc/server/registration.ts";
import { authenticate } from "../../interceptors/access/authenticate.ts";
import { catchUp } from "../../interceptors/catch-up.ts";
import { hideErrors } from "../../interceptors/errors.ts";
import { limitRates } from "../../interceptors/limits/rate-limit.ts";
import { shedLoad } from "../../interceptors/limits/shed-load.ts";
import { logCalls } from "../../interceptors/observation/log.ts";
import { observeCalls } from "../../interceptors/observation/observe.ts";
import { validateRequests } from "../../interceptors/validation/validate.ts";
import { unavailable } from "../../metering/ledger/unavailable.ts";
import { isUnreachable } from "../../storage/availability/unreachable.ts";
import { traceCalls } from "../../telemetry/traces/calls.ts";
import type { Access } from "./access.ts";
import type { Foundation } from "./foundation.ts";
import type { CoreInterceptors } from "./interface.ts";
import type { Money } from "./money.ts";

export function createInterceptors(
  { tracer, metrics, clock, logger }: Foundation,
  { gate, trail, trusts }: Pick<Access, "gate" | "trail" | "trusts">,
  overload: Overload,
  { rateLimits, ledger }: Pick<Money, "rateLimits" | "ledger">,
  services: readonly ServiceRegistration[],
): CoreInterceptors {
  const ownInterceptors = [
    shedLoad(overload),
    hideErrors(logger, (error) =>
      isUnreachable(error) ? unavailable("The database cannot be reached at the moment.", error) : undefined,
    ),
    authenticate(gate),
    recordChanges({ trail, trusts, logger, lost: metrics.audit }),
    limitRates(rateLimits),
    validateRequests(services.map(({ service }) => service)),
    catchUp(ledger),
  ];
  const tracing = tracer === undefined ? [] : [traceCalls(tracer)];
  const observing = observeCalls(clock, [logCalls(logger, clock), metrics.calls]);
  return { interceptors: [...tracing, observing, ...ownInterceptors], ownInterceptors };
}
