import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { toDuration } from "#lib/time/duration.ts";
import { EngineFault } from "../../engines/interface.ts";

const retryAfterMs = 2000;

/** The error of a request whose model is no longer served. */
export function modelIsGone(modelId: string): Error {
  return failure(Reason.MODEL_NOT_FOUND, `The model '${modelId}' is no longer served.`, { parameter: "model" });
}

/** The error of a request whose model has no server that is up. `retryMs`: when they are checked again. */
export function noServerIsUp(why: string, retryMs: number): Error {
  return failure(
    Reason.NO_SERVER,
    "No server of this model is up.",
    { retryAfter: toDuration(Math.ceil(retryMs)) },
    new EngineFault(why, false),
  );
}

/** The error of a request that gets no server. `retryMs`: when a retry makes sense. `why` goes to the log only. */
export function modelIsBusy(why: string, retryMs: number = retryAfterMs): Error {
  return failure(
    Reason.OVERLOADED,
    "The model is busy. Try again shortly.",
    { retryAfter: toDuration(Math.ceil(retryMs)) },
    new EngineFault(why, false),
  );
}
