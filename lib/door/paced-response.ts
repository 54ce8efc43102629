import { type IncomingMessage, ServerResponse } from "node:http";
import { toNetwork } from "../net/network.ts";
import { watchEnd } from "../net/send-whole.ts";
import type { Door } from "./door.ts";
import type { ToClient } from "./drain.ts";
import { hasBody } from "./head.ts";
import { holdBack, inTurn } from "./held-answer.ts";

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
    /** Whether Node.js closes the connection behind it. Known once it has a head. */
    declare readonly _last: boolean;
    isCounted = false;
    #isHeld = false;

    override end(...rest: unknown[]): this {
      if (this.#isHeld) {
        return this;
      }
      const { req, socket } = this;
      const bound = boundOf(this);
      const client = bound && toClient(req);
      const waitMs = bound === undefined || client === undefined ? 0 : door[bound].take(client, 1);
      if (bound === undefined || client === undefined || waitMs === 0) {
        (super.end as End)(...rest);
        return this;
      }
      door.refused(bound);
      this.#isHeld = true;
      const wait = { ms: waitMs, client, peer: req.socket.remoteAddress ?? "" };
      const finish = () => void (super.end as End)(...rest);
      if (socket !== null && this.headersSent && !this._last && (req.complete || !hasBody(req))) {
        holdBack(this, socket, finish, wait, door);
      } else {
        inTurn(this, wait, door, () => {
          finish();
          watchEnd(this, () => toNetwork(client), door.unread);
        });
      }
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
