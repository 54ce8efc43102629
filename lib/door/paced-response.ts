import { type IncomingMessage, ServerResponse } from "node:http";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { reasonOfStatus } from "../errors/surface-refusals.ts";
import { toNetwork } from "../net/network.ts";
import { watchEnd } from "../net/send-whole.ts";
import { answeredIdHeader, requestIdHeader } from "../rpc/call-headers.ts";
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
type WriteHead = (status: number, ...rest: unknown[]) => unknown;

/** The responses of a listener. Those that are refusals, or that nothing counts, end at the pace of their client's network. */
export function pacedResponses(door: Door, toClient: ToClient): typeof ServerResponse {
  return class PacedResponse<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {
    /** Whether Node.js closes the connection behind it. Known once it has a head. */
    declare readonly _last: boolean;
    isCounted = false;
    #isHeld = false;

    /** An answer without an id that is no success gets one: nobody but this listener knows of it. */
    override writeHead(status: number, ...rest: unknown[]): this {
      if (isToBeNamed(status, door) && !isNamed(this, rest.at(-1))) {
        this.setHeader(answeredIdHeader, nameRefusal(this, status, toClient, door));
      }
      (super.writeHead as WriteHead)(status, ...rest);
      return this;
    }

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
  const otherwise = isCounted ? undefined : "uncounted";
  return isRefusal(status) ? "refusals" : otherwise;
}

const isRefusal = (status: number): boolean => status >= 400 && status < 500;

/** Whether somebody may ask why he got an answer. What the admin port says of this process's health is no failure of its own. */
const isToBeNamed = (status: number, { name }: Door): boolean =>
  isRefusal(status) || (status >= 500 && name !== "admin");

/** Whether an answer has an id already, in its own headers or in those that come with its head. */
const isNamed = (response: ServerResponse, more: unknown): boolean =>
  response.hasHeader(answeredIdHeader) || (more instanceof Object && answeredIdHeader in more);

/** Gives the answer to a request an id and a line. Returns the id. */
function nameRefusal({ req }: ServerResponse, status: number, toClient: ToClient, door: Door): string {
  const reason = status >= 500 ? Reason.UNSPECIFIED : reasonOfStatus(status);
  const address = toNetwork(toClient(req) ?? "");
  return door.nameRefusal({ given: req.headers[requestIdHeader], reason, status, address });
}
