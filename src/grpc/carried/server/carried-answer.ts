import { create, type DescMessage, type Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { CallSignal } from "../../call-signal.ts";
import { CallHeaders } from "../../wire/call-headers.ts";
import { maxResponseBytes } from "../../wire/limits.ts";
import { toHeaders } from "../../wire/metadata.ts";
import { toStatus } from "../../wire/status.ts";
import { toBytes } from "../../workarounds/writer-room.ts";
import { parts, schemas, toFrame } from "../frames.ts";
import { toCarried } from "../headers.ts";
import { pieceBytes } from "../limits.ts";
import { Unread } from "../unread.ts";
import type { CoreStream } from "./interface.ts";
import { WaitingAnswer } from "./waiting-answer.ts";

/** The answer of a carried call: its head, its messages in pieces while the caller has room for them, and its end. */
export class CarriedAnswer {
  readonly #carrier: CoreStream;
  readonly #call: number;
  readonly #life: CallSignal;
  readonly #unread = new Unread();
  #isEnded = false;
  #wake: (() => void) | undefined;
  /** The account that pays for the memory of waiting messages. Empty: not known yet. */
  payer = "";

  /** `call` is the call's number on the stream. */
  constructor(carrier: CoreStream, call: number, life: CallSignal) {
    this.#carrier = carrier;
    this.#call = call;
    this.#life = life;
  }

  /** The caller has read this many more messages. */
  credit(messages: number): void {
    this.#unread.remove(messages);
    this.wake();
  }

  /** The caller may have room. */
  wake(): void {
    this.#wake?.();
  }

  /** The caller has gone: nothing more is sent. */
  drop(): void {
    this.#isEnded = true;
    this.#carrier.delete(this.#call);
  }

  sendHead(header: Headers): void {
    const headers = toCarried(header);
    if (headers.length > 0 && !this.#isEnded) {
      this.#carrier.send(toFrame(this.#call, parts.head, schemas.head, { headers }));
    }
  }

  /** Sends a message, at once where there is room. Throws, or rejects, when it is too large or the call is over. */
  send(schema: DescMessage, message: Message): Promise<void> | undefined {
    const bytes = toBytes(schema, create(schema, message));
    if (bytes.length > maxResponseBytes) {
      throw new ConnectError(`An answer may have ${maxResponseBytes} bytes.`, Code.ResourceExhausted);
    }
    if (bytes.length <= pieceBytes && this.#hasRoom) {
      this.#sendLast(bytes, bytes.length);
      return undefined;
    }
    return this.#sendPieces(bytes);
  }

  /** Sends the call's status, once. `error` undefined: OK. */
  end(error: unknown, trailer?: Headers): void {
    if (this.#isEnded) {
      return;
    }
    const end = error === undefined ? toOk(trailer) : toEnd(error);
    this.#carrier.send(toFrame(this.#call, parts.end, schemas.end, end));
    this.drop();
  }

  async #sendPieces(bytes: Buffer): Promise<void> {
    await this.#room(bytes.length);
    let at = 0;
    for (; bytes.length - at > pieceBytes; at += pieceBytes) {
      this.#sendPart(parts.piece, bytes.subarray(at, at + pieceBytes));
      await this.#room(bytes.length - at);
    }
    this.#sendLast(bytes.subarray(at), bytes.length);
  }

  get #hasRoom(): boolean {
    return !this.#unread.isFull && this.#carrier.hasRoom;
  }

  /** Waits until the caller has room or the call is over. `bytes` is the size of the waiting message. */
  async #room(bytes: number): Promise<void> {
    if (this.#hasRoom) {
      return;
    }
    const { unread } = this.#carrier.bounds;
    const waiting = new WaitingAnswer(this.payer, bytes, () => this.#life.abort(unreadTooLong()));
    unread.add(waiting);
    this.#life.onEnd(() => this.wake());
    while (!this.#hasRoom && this.#life.reason === undefined) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#wake = undefined;
    unread.delete(waiting);
    if (this.#life.reason !== undefined) {
      throw this.#life.reason;
    }
  }

  /** Sends the last piece. `length` is that of the whole message. */
  #sendLast(bytes: Uint8Array, length: number): void {
    this.#unread.add(length);
    this.#sendPart(parts.message, bytes);
  }

  #sendPart(part: number, bytes: Uint8Array): void {
    if (!this.#isEnded) {
      this.#carrier.send({ call: this.#call, part, bytes });
    }
  }
}

function toOk(trailer: Headers | undefined) {
  return { code: 0, trailers: trailer === undefined ? [] : toCarried(trailer) };
}

function toEnd(error: unknown) {
  const { code, details: message, metadata } = toStatus(error);
  return { code, message, trailers: toCarried(toHeaders(metadata, new CallHeaders())) };
}

function unreadTooLong(): ConnectError {
  return new ConnectError("the caller took nothing of the answer for too long", Code.Canceled);
}
