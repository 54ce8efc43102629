import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";

/** Why something is refused. Undefined: it is done, or fails without a reason. */
export function reasonOf(asked: unknown): Promise<Reason | undefined> {
  return Promise.resolve(asked).then(
    () => undefined,
    (error: unknown) => readDetail(error)?.reason,
  );
}

/** The same in words: "done", or the name of the reason. */
export function outcomeOf(asked: Promise<unknown>): Promise<string | undefined> {
  return asked.then(
    () => "done",
    (error: unknown) => Reason[readDetail(error)?.reason ?? Reason.UNSPECIFIED],
  );
}
