import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { ConnectError } from "@connectrpc/connect";
import { Pieces, pieceBytes } from "#lib/net/pieces.ts";
import { readMediaType } from "#lib/text/media-type.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { Exchange } from "../exchange.ts";
import type { BodyLease } from "./body-budget.ts";
import { BodyBuffer } from "./body-buffer.ts";
import type { BodyPace, PacedBody } from "./body-pace.ts";
import { encodingHeader, RequestError } from "./error.ts";

/** The largest body that is read, in bytes. */
const maxBodyBytes = 2 * 1024 * 1024;
/** Bytes of a body that are read before its sender's key is checked. */
const smallBytes = pieceBytes;
/** Asks the core for the account that pays for a request. Rejects when its key is wrong. */
export type Identify = () => Promise<string>;

/** A body, and what it was parsed from: a number may have more digits there. */
export interface JsonBody {
  readonly json: unknown;
  readonly text: string;
}

/**
 * Reads the body as JSON, whatever its content type, unless it is multipart. Only a part of a large body is read before
 * the key is checked. Throws RequestError: 413 once the body has been drained, or cannot be within bounds; 408 when it
 * arrives too slowly; 415; 400 for bad UTF-8 or bad JSON. Throws OVERLOADED when too much is being read at once, and
 * the core's error for the key.
 */
export async function readJson(exchange: Exchange, identify: Identify): Promise<JsonBody> {
  const { request, runtime, bodyLimits } = exchange;
  const declared = declaredLength(request);
  const lease = bodyLimits.budget.open(exchange.network);
  let received = 0;
  try {
    if (declared !== undefined && declared > maxBodyBytes) {
      throw tooLarge();
    }
    const isLarge = declared !== undefined && declared > smallBytes;
    if (isLarge) {
      lease.moveTo(await identify());
    }
    const reception = new Reception(request, lease, declared, isLarge ? undefined : identify, runtime.clock);
    try {
      return parseJson(await reception.read(bodyLimits.pace), request);
    } finally {
      received = reception.received;
      reception.free();
    }
  } catch (error) {
    if (isTimeout(error)) {
      runtime.observer.refused("slow_body");
    } else if (!request.complete) {
      received += await exchange.drain();
      // A body that is too large outweighs a wrong key, even where its size shows only while it is drained.
      throw received > maxBodyBytes ? tooLarge() : error;
    }
    throw error;
  } finally {
    lease.resize(0);
  }
}

/** One body that is being received. */
class Reception implements PacedBody {
  received = 0;
  list: object | undefined;
  earlier: PacedBody | undefined;
  later: PacedBody | undefined;
  readonly begunAt: number;
  readonly #buffer = new BodyBuffer();
  readonly #request: IncomingMessage;
  readonly #lease: BodyLease;
  readonly #declared: number | undefined;
  /** Undefined: the key was checked. */
  #identify: Identify | undefined;
  readonly #done = Promise.withResolvers<void>();
  readonly #pieces = new Pieces();
  #isOver = false;

  constructor(
    request: IncomingMessage,
    lease: BodyLease,
    declared: number | undefined,
    identify: Identify | undefined,
    clock: Clock,
  ) {
    this.#request = request;
    this.#lease = lease;
    this.#declared = declared;
    this.#identify = identify;
    this.begunAt = clock.monotonic();
  }

  /** Reads to the end. */
  async read(pace: BodyPace): Promise<Buffer> {
    const request = this.#request;
    const { promise, resolve, reject } = this.#done;
    let isWhole = false;
    const onData = (chunk: Buffer) => this.#take(chunk);
    const onEnd = () => {
      isWhole = true;
      resolve();
    };
    // Every request closes before the awaiting reader continues, and creating an error captures a stack.
    const onClose = () => {
      if (!isWhole) {
        reject(endedEarly());
      }
    };
    pace.add(this);
    request.on("data", onData).on("end", onEnd).on("close", onClose);
    request.resume();
    try {
      await promise;
    } finally {
      pace.delete(this);
      request.off("data", onData).off("end", onEnd).off("close", onClose);
    }
    return this.#buffer.bytes;
  }

  /** Gives the memory of what was read back. Nothing is kept from then on. */
  free(): void {
    this.#isOver = true;
    this.#buffer.free();
  }

  giveUp(): void {
    this.#done.reject(new RequestError(408, "The body came too slowly."));
  }

  #take(chunk: Buffer): void {
    this.received += chunk.length;
    try {
      if (this.received > maxBodyBytes) {
        throw tooLarge();
      }
      this.#keep(chunk);
      if (this.#identify !== undefined && this.received > smallBytes) {
        this.#check(this.#identify);
      } else {
        this.#pieces.took(chunk.length, this.#request, () => this.#isOver);
      }
    } catch (error) {
      if (this.#identify !== undefined && error instanceof ConnectError) {
        this.#check(this.#identify, chunk); // a known account has room where strangers have none
      } else {
        this.#request.pause();
        this.#done.reject(error);
      }
    }
  }

  /** Adds a chunk to what is kept. Throws OVERLOADED when there is no room. */
  #keep(chunk: Buffer): void {
    // A body that comes in one piece takes no memory from the budget.
    if (chunk.length !== this.#declared) {
      this.#lease.resize(this.#buffer.roomFor(chunk.length));
    }
    this.#buffer.add(chunk);
  }

  /** Stops reading until the key is known to be right. `chunk`: it had no room among those of unknown keys. */
  #check(identify: Identify, chunk?: Buffer): void {
    this.#identify = undefined;
    this.#request.pause();
    identify()
      .then((accountId) => {
        if (this.#isOver) {
          return; // it was given up meanwhile
        }
        this.#lease.moveTo(accountId);
        if (chunk !== undefined) {
          this.#keep(chunk);
        }
        this.#request.resume();
      })
      .catch((error: unknown) => this.#done.reject(error));
  }
}

/** The announced length of a request's body. Undefined: none is announced. */
function declaredLength({ headers }: IncomingMessage): number | undefined {
  const length = headers["content-length"];
  return length === undefined ? undefined : Number(length);
}

function tooLarge(): RequestError {
  return new RequestError(413, "The body is larger than 2 MiB.");
}

function endedEarly(): RequestError {
  return new RequestError(400, "The body ended too early.");
}

function isTimeout(error: unknown): boolean {
  return error instanceof RequestError && error.status === 408;
}

function parseJson(body: Buffer, { headers }: IncomingMessage): JsonBody {
  const contentType = headers["content-type"] ?? "";
  const encoding = headers[encodingHeader] ?? "identity";
  if (readMediaType(contentType).startsWith("multipart/")) {
    throw new RequestError(415, "Multipart bodies are not supported; send JSON as application/json.");
  }
  if (encoding.toLowerCase() !== "identity") {
    const message = `The content encoding ${encoding} is not supported; send the body uncompressed.`;
    throw new RequestError(415, message, encodingHeader);
  }
  if (body.length === 0) {
    throw new RequestError(400, "The body is empty; it must be a JSON object.");
  }
  if (!isUtf8(body)) {
    throw unreadable(contentType, "The body is not valid UTF-8.");
  }
  const read = body.toString("utf8");
  const text = read.charCodeAt(0) === 0xfeff ? read.slice(1) : read;
  try {
    return { json: JSON.parse(text), text };
  } catch (error) {
    throw unreadable(contentType, `The body is not valid JSON: ${(error as SyntaxError).message}.`);
  }
}

/** Types of bodies that may be JSON all the same: unspecific ones, as `curl -d` sends. */
const unspecific: ReadonlySet<string> = new Set(["", "text/plain", "application/x-www-form-urlencoded"]);

/**
 * The error for a body that is not JSON. Its content is at fault where its type is JSON or unspecific, and otherwise
 * its type.
 */
function unreadable(contentType: string, message: string): RequestError {
  const type = readMediaType(contentType);
  return type.includes("json") || unspecific.has(type)
    ? new RequestError(400, message)
    : new RequestError(415, `The content type ${contentType} is not supported; send JSON as application/json.`);
}
