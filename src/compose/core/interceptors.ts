import { Outage } from "#lib/errors/outage.ts";
import type { Overload } from "#lib/overload/monitor.ts";
import { recordChanges } from "#src/identity/audit/record-changes.ts";
import { recordRefusals } from "#src/identity/audit/record-refusals.ts";
import { unavailable } from "#src/money/model/unavailable.ts";
import { catchUp } from "#src/services/limits/catch-up.ts";
import { limitRates } from "#src/services/limits/rate-limit.ts";
import { isUnreachable } from "#src/storage/availability/unreachable.ts";
import { traceCalls } from "#src/telemetry/traces/calls.ts";
import type { ServiceRegistration } from "#src/wire/grpc/server/registration.ts";
import { authenticate } from "#src/wire/interceptors/access/authenticate.ts";
import { judgeStreams } from "#src/wire/interceptors/access/judge-streams.ts";
import { hideErrors } from "#src/wire/interceptors/errors.ts";
import { takeReadsInTurn } from "#src/wire/interceptors/limits/reads-in-turn.ts";
import { shedLoad } from "#src/wire/interceptors/limits/shed-load.ts";
import { logCalls } from "#src/wire/interceptors/observation/log.ts";
import { type CallObserver, observeCalls } from "#src/wire/interceptors/observation/observe.ts";
import { validateRequests } from "#src/wire/interceptors/validation/validate.ts";
import type { Access } from "./access.ts";
import type { Foundation } from "./foundation.ts";
import type { CoreInterceptors } from "./interface.ts";
import type { Money } from "./money/money.ts";

export function createInterceptors(
  { tracer, metrics, clock, logger, catalogue }: Foundation,
  { gate, trail, trusts }: Pick<Access, "gate" | "trail" | "trusts">,
  overload: Overload,
  { rateLimits, ledger }: Pick<Money, "rateLimits" | "ledger">,
  services: readonly ServiceRegistration[],
  observers: readonly CallObserver[],
): CoreInterceptors {
  const away = new Outage({ logger, clock }, "the database did not answer a call");
  const ownInterceptors = [
    shedLoad(overload),
    hideErrors(logger, (error) => {
      if (!isUnreachable(error)) {
        return undefined;
      }
      away.failed(error);
      return unavailable("The database cannot be reached at the moment.", error);
    }),
    recordRefusals({ trail, trusts, clock, logger }),
    authenticate(gate),
    takeReadsInTurn(clock),
    judgeStreams(gate, clock),
    recordChanges({ trail, trusts, logger, lost: metrics.audit }),
    limitRates(rateLimits),
    validateRequests(services.map(({ service }) => service)),
    catchUp(ledger),
  ];
  const tracing = tracer === undefined ? [] : [traceCalls(tracer)];
  const isServed = (model: string) => catalogue.list().some(({ id }) => id === model);
  const all = [logCalls(logger, clock), metrics.calls, ...observers];
  const observing = observeCalls(clock, all, { trusts, isServed });
  return { interceptors: [...tracing, observing, ...ownInterceptors], ownInterceptors };
}
