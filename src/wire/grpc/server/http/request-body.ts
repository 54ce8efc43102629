import type { IncomingMessage } from "node:http";
import { type ContextValues, createContextKey } from "@connectrpc/connect";
import type { Door } from "#lib/door/door.ts";
import { toNetwork } from "#lib/net/network.ts";
import type { Receiving } from "../receiving.ts";

/** The payer of a call. Undefined: the call is not admitted yet. */
export const payerKey = createContextKey<string | undefined>(undefined, { description: "payer" });

/** Called at the end of a call that was admitted. */
export const leaveKey = createContextKey<() => void>(() => {}, { description: "leave" });

/** The body of a request, read on demand and within the bounds for received messages. */
export async function* readBody(
  request: IncomingMessage,
  values: ContextValues,
  receiving: Receiving,
  door: Pick<Door, "refused">,
): AsyncGenerator<Uint8Array> {
  const cut = Promise.withResolvers<never>();
  cut.promise.catch(() => {}); // nobody may be waiting for it
  const payer = values.get(payerKey) ?? toNetwork(request.socket.remoteAddress ?? "");
  const reception = receiving.begin(payer, (reason, bound) => {
    door.refused(bound);
    cut.reject(reason);
  });
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
    void chunks.return?.();
  }
}
