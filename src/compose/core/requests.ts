import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { type PublicSurface, publicSurfaces } from "#lib/inference/surface-names.ts";
import type { RequestStore } from "#src/money/model/store/request.ts";
import { RequestRecorder } from "#src/telemetry/requests/recorder.ts";
import type { StatusOf } from "#src/telemetry/requests/refused.ts";
import type { CallObserver } from "#src/wire/interceptors/observation/observe.ts";
import { errorStatus } from "../../../facades/error-status.ts";
import type { Foundation } from "./foundation.ts";

/** The record of refused requests. */
export interface Requests {
  readonly observe: CallObserver;
  stop(): Promise<void>;
}

export function recordRequests({ config, clock, logger, metrics }: Foundation, store: RequestStore): Requests {
  const { keep_days: keepDays, most } = config.requests;
  if (most === 0) {
    return { observe: () => {}, stop: async () => {} };
  }
  const recorder = new RequestRecorder({
    ...{ store, statusOf, keepDays, most, clock, logger },
    dropped: metrics.unrecorded,
  });
  return { observe: recorder.observe, stop: recorder.start() };
}

/** The surfaces say it: they are asked once. */
const statuses = new Map(publicSurfaces.map((surface) => [surface, toStatuses(surface)]));
export const statusOf: StatusOf = (surface, reason) => statuses.get(surface)?.get(reason) ?? 500;

function toStatuses(surface: PublicSurface): Map<Reason, number> {
  const reasons = Object.values(Reason).filter((value): value is Reason => typeof value === "number");
  return new Map(reasons.map((reason) => [reason, errorStatus(surface, failure(reason, ""))]));
}
