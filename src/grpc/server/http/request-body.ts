import type { IncomingMessage, ServerResponse } from "node:http";
import { type ContextValues, createContextKey } from "@connectrpc/connect";
import type { Receiving } from "../receiving.ts";

/** The payer of a call. Undefined: the call is not admitted yet. */
export const payerKey = createContextKey<string | undefined>(undefined, { description: "payer" });

/** Milliseconds for which the rest of a request is drained after its answer, so that the sender can read that. */
const drainMs = 5000;
/** The most requests of one connection that may wait for their answers. */
const maxPipelined = 16;

/** The body of a request, read on demand and within the bounds for received messages. */
export async function* readBody(
  request: IncomingMessage,
  values: ContextValues,
  receiving: Receiving,
): AsyncGenerator<Uint8Array> {
  const cut = Promise.withResolvers<never>();
  cut.promise.catch(() => {}); // nobody may be waiting for it
  const reception = receiving.begin(values.get(payerKey) ?? "", cut.reject);
  const chunks: AsyncIterator<Buffer> = request.iterator({ destroyOnReturn: false });
  try {
    for (;;) {
      const chunk = await Promise.race([chunks.next(), cut.promise]);
      if (chunk.done) {
        return;
      }
      if (!reception.take(chunk.value.length)) {
        await cut.promise;
      }
      yield chunk.value;
    }
  } finally {
    reception.end();
    // Read an unwanted body to its end: the connection's next request comes after it.
    void chunks.return?.().then(() => request.resume());
  }
}

/** Closes the connection of a client that is still sending a request long after its answer. */
export function endWithAnswer(request: IncomingMessage, response: ServerResponse): void {
  response.once("finish", () => {
    if (request.complete) {
      return;
    }
    const timer = setTimeout(() => request.socket.destroy(), drainMs).unref();
    request.once("close", () => clearTimeout(timer));
  });
}

/** Returns a function that tells whether a connection has too many unanswered requests, whose answers pile up. */
export function pipelineLimit(): (request: IncomingMessage, response: ServerResponse) => boolean {
  const open = new WeakMap<object, number>();
  return ({ socket }, response) => {
    const count = (open.get(socket) ?? 0) + 1;
    open.set(socket, count);
    response.once("close", () => open.set(socket, (open.get(socket) ?? 1) - 1));
    return count > maxPipelined;
  };
}
