import type { Interceptor } from "@connectrpc/connect";
import { Access } from "#gen/tollgate/access/v1/access_pb.js";
import type { Clock } from "#lib/time/clock.ts";
import type { CallHead, Gate } from "../../grpc/server/gate.ts";
import { isRefusal } from "./principal.ts";
import { readAccess } from "./required-access.ts";

/**
 * Milliseconds between two judgements. With the four seconds for which an answer about a credential is believed before
 * it is renewed, a revoked one reads no longer than ten.
 */
const pauseMs = 2500;

/**
 * Judges the callers of running streams again and again, so that a stream ends soon after its credential does. Comes
 * after the interceptor that identifies the caller. Generations, whose money is held and whose end is near, run on.
 */
export function judgeStreams(gate: Gate, clock: Pick<Clock, "after">): Interceptor {
  return (next) => async (request) => {
    const response = await next(request);
    if (!response.stream || !isJudged(readAccess(request.method))) {
      return response;
    }
    return { ...response, message: judged(response.message, request, gate, clock) };
  };
}

function isJudged(needed: Access): boolean {
  return needed === Access.OPERATOR || needed === Access.CALLER_OR_OPERATOR;
}

/** The messages, until the gate refuses the call. */
async function* judged<M>(
  messages: AsyncIterable<M>,
  head: CallHead,
  gate: Gate,
  clock: Pick<Clock, "after">,
): AsyncGenerator<M> {
  const source = messages[Symbol.asyncIterator]();
  let refusal: unknown;
  let refused = (_: unknown) => {};
  let stop = () => {};
  const judge = async () => {
    try {
      await gate.judge(head);
    } catch (error) {
      if (isRefusal(error)) {
        refusal = error;
        return refused(error);
      } // a store that cannot be asked ends no stream
    }
    again();
  };
  let isOver = false;
  const again = () => {
    if (!isOver) {
      stop = clock.after(pauseMs, () => void judge());
    }
  };
  again();
  try {
    for (;;) {
      if (refusal !== undefined) {
        throw refusal;
      }
      const result = await new Promise<IteratorResult<M>>((resolve, reject) => {
        refused = reject;
        source.next().then(resolve, reject);
      });
      if (result.done) {
        return;
      }
      yield result.value;
    }
  } finally {
    isOver = true;
    stop();
    const ended = Promise.resolve(source.return?.()).catch(() => {});
    await (refusal === undefined ? ended : undefined); // a source that waits for its next message ends after it
  }
}
