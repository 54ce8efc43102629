import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { Windows } from "#lib/door/counts/windows.ts";
import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import { readClientAddress, type TrustsPeer } from "#src/wire/interceptors/access/client-address.ts";
import { readRefused } from "#src/wire/interceptors/access/principal.ts";
import type { AuditTrail } from "./audit-trail.ts";

interface Dependencies {
  readonly trail: Pick<AuditTrail, "add">;
  readonly trusts: TrustsPeer;
  readonly clock: Pick<Clock, "monotonic">;
  readonly logger: Logger;
}

const windowMs = 60_000;
/** Operators and methods that are remembered at a time. */
const mostRefused = 1000;

/**
 * Notes what was refused to an operator: once a minute for an operator and a method, because rows are never deleted.
 * Comes before the interceptor that identifies the caller.
 */
export function recordRefusals({ trail, trusts, clock, logger }: Dependencies): Interceptor {
  const windows = new Windows(windowMs, mostRefused);
  return (next) => async (request) => {
    try {
      return await next(request);
    } catch (error) {
      const operator = readRefused(request.contextValues);
      if (operator === undefined || !(error instanceof ConnectError) || error.code !== Code.PermissionDenied) {
        throw error;
      }
      const method = `${request.service.typeName}/${request.method.name}`;
      if (windows.count(`${operator.personId ?? operator.id} ${method}`, 1, clock.monotonic()) === undefined) {
        await trail
          .add({
            operator: operator.name,
            operatorId: operator.id || null,
            keyId: null,
            personId: operator.personId ?? null,
            method,
            target: "",
            before: undefined,
            after: { refused: error.rawMessage },
            address: readClientAddress(request, trusts),
          })
          .catch((cause: unknown) => logger.error({ error: cause, method }, "a refusal is not in the audit log"));
      }
      throw error;
    }
  };
}
