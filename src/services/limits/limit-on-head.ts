import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { RateLimitUse } from "#gen/tollgate/metering/v1/rate_limit_pb.js";
import { andThen, atOnce } from "#lib/time/and-then.ts";
import type { RateLimits } from "#src/money/rate-limits/interface.ts";
import type { CallHead, Gate } from "#src/wire/grpc/server/gate.ts";
import { principalKey } from "#src/wire/interceptors/access/principal.ts";
import { readUse } from "./rate-limit.ts";

/**
 * Refuses, before its message is read, a call of a key that was refused a moment ago. Counts nothing: what passes is
 * counted by `limitRates`. A public surface asks who calls before it reads a large body, and learns it there.
 */
export function limitOnHead(gate: Gate, limits: Pick<RateLimits, "refuseAgain">): Gate {
  return {
    ...gate,
    admit(head) {
      return isLimited(head)
        ? atOnce(() => andThen(gate.admit(head), (payer) => andThen(refuse(head, limits), () => payer)))
        : gate.admit(head);
    },
  };
}

function refuse({ contextValues }: CallHead, limits: Pick<RateLimits, "refuseAgain">): void | Promise<void> {
  const principal = contextValues.get(principalKey);
  return principal?.kind === "caller" ? limits.refuseAgain(principal) : undefined;
}

function isLimited({ method }: CallHead): boolean {
  const use = readUse(method);
  return use === RateLimitUse.RUN || use === RateLimitUse.COUNT || method === AccountsService.method.identifyCaller;
}
