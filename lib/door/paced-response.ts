import { type IncomingMessage, ServerResponse } from "node:http";
import { toNetwork } from "../net/network.ts";
import { watchEnd } from "../net/send-whole.ts";
import type { Door } from "./door.ts";
import type { ToClient } from "./drain.ts";

/** `isCounted`: of a request that a rate counts, or somebody's credential, or that is shed. */
type Answer = ServerResponse & { isCounted?: boolean };

/** Notes that a rate has counted a request, that its credential was right, or that it is shed. */
export function noteCounted(response: ServerResponse): void {
  (response as Answer).isCounted = true;
}

type End = (...rest: unknown[]) => unknown;

/** The responses of a listener. Those that are refusals, or that nothing counts, end at the pace of their client's network. */
export function pacedResponses(door: Door, toClient: ToClient): typeof ServerResponse {
  return class PacedResponse<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {
    isCounted = false;
    #isHeld = false;

    override end(...rest: unknown[]): this {
      if (this.#isHeld) {
        return this;
      }
      const { remoteAddress: peer = "" } = this.req.socket;
      const bound = boundOf(this);
      const client = bound && toClient(this.req);
      const waitMs = bound === undefined || client === undefined ? 0 : door[bound].take(client, 1);
      if (bound === undefined || client === undefined || waitMs === 0) {
        (super.end as End)(...rest);
        return this;
      }
      door.refused(bound);
      this.#isHeld = true;
      const endAt = door.clock.monotonic() + waitMs;
      const leave = () => {
        forget();
        door.connections.keepPlace(peer, endAt - door.clock.monotonic());
      };
      const forget = door.clock.after(waitMs, () => {
        this.off("close", leave);
        (super.end as End)(...rest);
        watchEnd(this, () => toNetwork(client), door.unread);
      });
      this.once("close", leave);
      return this;
    }
  };
}

/** The bound that an answer has. Undefined: none. */
function boundOf({ statusCode: status, isCounted }: Answer): "refusals" | "uncounted" | undefined {
  const isRefusal = status >= 400 && status < 500;
  const otherwise = isCounted ? undefined : "uncounted";
  return isRefusal ? "refusals" : otherwise;
}
