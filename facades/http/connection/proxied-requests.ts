import type { ConnectError } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { NetworkCounts } from "#lib/door/counts/network-counts.ts";
import { whenWritten } from "#lib/door/held-answer.ts";
import type { Exchange } from "../exchange.ts";
import { refusedHere } from "../refused-here.ts";
import type { IsTrustedProxy } from "../request/client-address.ts";

/**
 * Bounds the concurrent requests of one client behind trusted proxies, whose connections do not show them. Direct
 * clients are bounded by their connections, which run one request each.
 */
export class ProxiedRequests {
  readonly #counts = new NetworkCounts();
  readonly #most: number;
  readonly #isTrustedProxy: IsTrustedProxy | undefined;

  constructor(most: number, isTrustedProxy: IsTrustedProxy | undefined) {
    this.#most = most;
    this.#isTrustedProxy = isTrustedProxy;
  }

  /** Counts a request until its answer is written. Throws RATE_LIMITED when its client has too many. */
  admit(exchange: Exchange): void {
    if (this.#isTrustedProxy === undefined) {
      return;
    }
    const { address, network, request, response, runtime } = exchange;
    const { socket } = request;
    if (address === undefined || address === socket.remoteAddress) {
      return;
    }
    if (!this.#counts.add(network, this.#most)) {
      runtime.observer.refused("requests_per_address");
      throw tooMany();
    }
    response.once("close", () => whenWritten(socket, () => this.#counts.remove(network)));
  }
}

function tooMany(): ConnectError {
  return refusedHere(Reason.RATE_LIMITED, "Too many requests from this address are under way.", 1);
}
