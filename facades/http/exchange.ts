import type { IncomingMessage, ServerResponse } from "node:http";
import type { CallOptions, ConnectError } from "@connectrpc/connect";
import { drain } from "#lib/door/drain.ts";
import { hasBody } from "#lib/door/head.ts";
import { noteCounted } from "#lib/door/paced-response.ts";
import { newRequestId } from "#lib/ids/request-id.ts";
import type { PublicSurface } from "#lib/inference/surface-names.ts";
import { toNetwork } from "#lib/net/network.ts";
import { sendWhole } from "#lib/net/send-whole.ts";
import { requestIdHeader } from "#lib/rpc/call-headers.ts";
import { type RateLimitState, readRateLimit } from "#lib/rpc/rate-limit.ts";
import type { BodyLimits } from "./request/body-limits.ts";
import { clientAddress } from "./request/client-address.ts";
import { type CallHeaders, callHeaders, type KeyHeader } from "./request/credentials.ts";
import { addRateLimit } from "./response/rate-limit-headers.ts";
import type { ExchangeTrace, Runtime } from "./runtime.ts";

/** Where load balancers and load clients ask whether this process answers: no request of a caller, so not traced. */
export const healthPath = "/health";

/** One HTTP request and its response. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly runtime: Runtime;
  readonly bodyLimits: BodyLimits;
  /** The request's id: in `x-request-id`, in `request-id` and on the receipt. */
  readonly requestId: string;
  /** The endpoint's path as the router has it. Undefined: no endpoint. */
  route: string | undefined;
  /** The header whose key counts when both have one. */
  keyHeader: KeyHeader = "x-api-key";
  /** The surface that answers. Undefined: none is chosen yet. */
  surface: PublicSurface | undefined;
  /** Whether the core knows that the surface refuses the request. */
  isRefusalRecorded = false;
  #address: string | undefined;
  readonly #call = new AbortController();
  #isGone = false;
  readonly #trace: ExchangeTrace | undefined;
  #isStream = false;
  /** The state of the caller's rate limits, once the core has reported it. */
  #rateLimit: RateLimitState | undefined;

  /** It is among `running` until its response closes. */
  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    runtime: Runtime,
    bodyLimits: BodyLimits,
    running: Set<Exchange>,
  ) {
    this.request = request;
    this.response = response;
    this.runtime = runtime;
    this.bodyLimits = bodyLimits;
    this.requestId = newRequestId(runtime.random);
    this.#trace = request.url === healthPath ? undefined : runtime.trace?.(request);
    runtime.observer.opened();
    running.add(this);
    response.once("close", () => {
      running.delete(this);
      const status = response.headersSent ? response.statusCode : undefined;
      runtime.observer.closed(status, this.#isStream);
      this.#trace?.end(this.requestId, this.route, status);
      if (!response.writableFinished) {
        this.#isGone = true;
        this.#call.abort();
      }
    });
  }

  /** Whether the client left before it had the complete response. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** The address from which the request came. Undefined: the client has left. */
  get address(): string | undefined {
    this.#address ??= clientAddress(this.request, this.runtime.isTrustedProxy);
    return this.#address;
  }

  /** The network of that address. It stands for one client. */
  get network(): string {
    return toNetwork(this.address ?? "");
  }

  /** Options for a call to the core, which counts it, on behalf of the client. The call ends when the client leaves. */
  get callOptions(): { headers: CallHeaders; signal: AbortSignal } & CallOptions {
    noteCounted(this.response);
    const headers = callHeaders(this.request, this.address, this.keyHeader, this.surface);
    return {
      headers: Object.assign(headers, { [requestIdHeader]: this.requestId }, this.#trace?.headers),
      signal: this.#call.signal,
      onHeader: this.noteRateLimit,
    };
  }

  /** Ends its calls to the core with this error, which the client is told. */
  end(reason: ConnectError): void {
    this.#call.abort(reason);
  }

  /** Reads the state of the caller's rate limits from the core's metadata, for the response's headers. */
  readonly noteRateLimit = (metadata: Headers): void => {
    this.#rateLimit = readRateLimit(metadata) ?? this.#rateLimit;
  };

  /** Writes the head of the response: the status, the content type, and the headers of every response. */
  begin(status: number, contentType: string, more: Readonly<Record<string, string>> = {}): void {
    const headers: Record<string, string> = {
      "content-type": contentType,
      "x-request-id": this.requestId,
      "request-id": this.requestId,
      "inference-id": this.requestId, // by this name Hugging Face asks what a request cost
    };
    if (this.#rateLimit !== undefined) {
      addRateLimit(headers, this.#rateLimit, this.runtime.clock.now());
    }
    if (contentType.startsWith("text/event-stream")) {
      this.#isStream = true;
      this.runtime.observer.streamed();
    }
    this.response.writeHead(status, Object.assign(headers, more));
  }

  /** Answers with complete JSON text. */
  send(status: number, json: string, more: Readonly<Record<string, string>> = {}): void {
    if (this.isGone) {
      return;
    }
    const length = Buffer.byteLength(json);
    const headers: Record<string, string> = { "content-length": String(length), ...more };
    // The unread rest of the request would be taken for the next one.
    if (!this.request.complete && hasBody(this.request)) {
      headers.connection = "close";
    }
    this.begin(status, "application/json", headers);
    sendWhole(this.response, json, length, () => this.network, this.bodyLimits.unread);
  }

  /** Drains the body of a refused request, so that its sender can read the answer. Returns how many bytes came. */
  drain(): Promise<number> {
    return drain(this.request, this.address ?? "", this.bodyLimits.drains).catch(() => 0);
  }

  /** Answers that all is well, without a body. */
  sendEmpty(): void {
    this.response.writeHead(204, { "x-request-id": this.requestId, "request-id": this.requestId }).end();
  }

  /** Logs an unexpected error. */
  logUnexpected(error: unknown): void {
    this.runtime.logger.error({ err: error, requestId: this.requestId }, "a request failed unexpectedly");
  }
}
