import { type IncomingMessage, ServerResponse } from "node:http";
import { toNetwork } from "../net/network.ts";
import { watchEnd } from "../net/send-whole.ts";
import type { Door } from "./door.ts";
import type { ToClient } from "./drain.ts";

type End = (...rest: unknown[]) => unknown;

/** The responses of a listener, of which refusals end at the pace of their client's network. */
export function pacedResponses(door: Door, toClient: ToClient): typeof ServerResponse {
  return class PacedResponse<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {
    #isHeld = false;

    override end(...rest: unknown[]): this {
      if (this.#isHeld) {
        return this;
      }
      const { remoteAddress: peer = "" } = this.req.socket;
      const client = isRefusal(this.statusCode) ? toClient(this.req) : undefined;
      const waitMs = client === undefined ? 0 : door.refusals.take(client, 1);
      if (client === undefined || waitMs === 0) {
        (super.end as End)(...rest);
        return this;
      }
      door.refused("refusals");
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

/** Whether a status says that the client is at fault. */
function isRefusal(status: number): boolean {
  return status >= 400 && status < 500;
}
