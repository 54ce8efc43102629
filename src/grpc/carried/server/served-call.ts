import { create, type DescMethodUnary, fromBinary, type Message } from "@bufbuild/protobuf";
import { Code, ConnectError, createContextValues } from "@connectrpc/connect";
import type { Start } from "#gen/tollgate/calls/v1/calls_service_pb.js";
import type { UnreadAnswers } from "../../../../lib/net/unread-answers.ts";
import { type CallSignal, createCallSignal } from "../../call-signal.ts";
import { hangUpKey } from "../../hang-up.ts";
import { type CallInit, invokeStream, invokeUnary, type ServedMethod } from "../../invoke.ts";
import { type CallHead, type Gate, refuse } from "../../server/gate.ts";
import { peerKey } from "../../server/peer.ts";
import type { Receiving } from "../../server/receiving.ts";
import type { Standing } from "../../server/standing.ts";
import { CallHeaders } from "../../wire/call-headers.ts";
import { maxHeaderBytes, maxRequestBytes, maxResponseBytes } from "../../wire/limits.ts";
import { OneMessage } from "../../wire/messages.ts";
import { toHeaders } from "../../wire/metadata.ts";
import { toStatus } from "../../wire/status.ts";
import { toBytes } from "../../workarounds/writer-room.ts";
import { type Frame, parts, schemas, toFrame } from "../frames.ts";
import { carriedLength, fromCarried, toCarried } from "../headers.ts";
import { pieceBytes } from "../limits.ts";
import { Unread } from "../unread.ts";
import { WaitingAnswer } from "./waiting-answer.ts";

/** What carried calls are served by, and within. */
export interface Bounds {
  /** The methods by their paths. */
  readonly served: ReadonlyMap<string, ServedMethod>;
  readonly gate: Gate;
  readonly receiving: Receiving;
  readonly unread: UnreadAnswers;
  /** Those under way, for whoever has to end them. */
  readonly calls: Set<CallSignal>;
}

/** The stream that a call came over. */
export interface CoreStream {
  readonly bounds: Bounds;
  readonly standing: Standing;
  /** The address at the other end. */
  readonly peer: string | undefined;
  /** Whether the caller takes more. */
  readonly hasRoom: boolean;
  send(frame: Frame): void;
  /** Forgets a call that is over. */
  delete(call: number): void;
}

/** A carried call on the core's side: let in, run and answered as an ordinary one. */
export class ServedCall {
  readonly number: number;
  readonly #carrier: CoreStream;
  readonly #start: Start;
  readonly #life: CallSignal;
  #isWhole = false;
  #isEnded = false;
  #payer = "";
  readonly #unread = new Unread();
  #wake: (() => void) | undefined;

  constructor(carrier: CoreStream, number: number, start: Start) {
    this.#carrier = carrier;
    this.number = number;
    this.#start = start;
    this.#life = createCallSignal(undefined, start.timeoutMs || undefined);
  }

  /** Whether its message has come. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** The caller has read so many messages more. */
  credit(messages: number): void {
    this.#unread.remove(messages);
    this.wake();
  }

  /** There may be room. */
  wake(): void {
    this.#wake?.();
  }

  /** The caller has gone: nothing more is sent. */
  cancel(): void {
    this.#isEnded = true;
    this.#carrier.delete(this.number);
    this.#life.abort(new ConnectError("the caller cancelled the call", Code.Canceled));
  }

  /** Answers the call with an error before it is run. */
  refuse(error: unknown): void {
    this.#isWhole = true;
    this.#end(error);
    this.#life.complete();
  }

  /** Runs the call with its request message. */
  run(bytes: Uint8Array): void {
    if (!this.#isWhole) {
      this.#isWhole = true;
      void this.#run(bytes);
    }
  }

  async #run(bytes: Uint8Array): Promise<void> {
    const { calls } = this.#carrier.bounds;
    calls.add(this.#life);
    try {
      await this.#respond(bytes);
    } catch (error) {
      this.#end(error);
    } finally {
      this.#life.complete();
      calls.delete(this.#life);
    }
  }

  async #respond(bytes: Uint8Array): Promise<void> {
    const served = this.#carrier.bounds.served.get(this.#start.path);
    if (served === undefined || (served.spec.kind !== "unary" && served.spec.kind !== "server_streaming")) {
      throw new ConnectError(`${this.#start.path} is not served over a shared stream`, Code.Unimplemented);
    }
    const head = this.#readHead(served);
    await this.#admit(served, head, bytes.length);
    const { standing } = this.#carrier;
    standing.admitted();
    try {
      await this.#answer(served, head, bytes);
    } finally {
      standing.left();
    }
  }

  #readHead({ spec: { method } }: ServedMethod): CallHead {
    const { headers } = this.#start;
    if (carriedLength(headers) > maxHeaderBytes) {
      throw new ConnectError(`The headers may have ${maxHeaderBytes} bytes.`, Code.ResourceExhausted);
    }
    const contextValues = createContextValues().set(peerKey, this.#carrier.peer);
    try {
      return { method, header: fromCarried(headers), contextValues };
    } catch (cause) {
      throw new ConnectError((cause as Error).message, Code.InvalidArgument);
    }
  }

  /** Lets the call in. While that waits, its message takes from the memory for received ones. */
  async #admit(served: ServedMethod, head: CallHead, bytes: number): Promise<void> {
    const { gate, receiving } = this.#carrier.bounds;
    let admission: string | Promise<string>;
    try {
      admission = gate.admit(head);
      if (typeof admission === "string") {
        this.#payer = admission;
        return;
      }
      const reception = receiving.begin(this.#carrier.peer ?? "", (reason) => this.#life.abort(reason));
      reception.take(bytes);
      this.#payer = await admission.finally(() => reception.end());
    } catch (error) {
      this.#carrier.standing.refused();
      throw await this.#refusal(served, head, ConnectError.from(error));
    }
    if (this.#life.reason !== undefined) {
      throw await this.#refusal(served, head, this.#life.reason);
    }
  }

  #refusal({ spec, interceptors, url }: ServedMethod, head: CallHead, reason: ConnectError): Promise<unknown> {
    const { signal } = this.#life;
    return refuse(interceptors, { ...head, method: spec.method as DescMethodUnary, url, signal }, reason);
  }

  async #answer(served: ServedMethod, head: CallHead, bytes: Uint8Array): Promise<void> {
    const message = readMessage(served, bytes);
    if (message instanceof ConnectError) {
      throw await this.#refusal(served, head, message);
    }
    const { timeoutMs } = this.#start;
    const init: CallInit = {
      protocolName: "grpc",
      header: head.header,
      values: head.contextValues.set(hangUpKey, (error) => this.#life.abort(error)),
      signal: this.#life.signal,
      deadline: timeoutMs === 0 ? undefined : Date.now() + timeoutMs,
    };
    if (served.spec.kind === "unary") {
      const { message: answer, header, trailer } = await invokeUnary(served, init, message);
      this.#sendHead(header);
      await this.#send(served, answer);
      return this.#end(undefined, trailer);
    }
    await this.#stream(served, init, message);
  }

  async #stream(served: ServedMethod, init: CallInit, request: Message): Promise<void> {
    const { message: messages, header, trailer } = await invokeStream(served, init, new OneMessage(request));
    let hasBegun = false;
    const begin = () => {
      if (!hasBegun) {
        hasBegun = true;
        this.#sendHead(header);
      }
    };
    const life = this.#life;
    try {
      for await (const message of messages) {
        throwIfOver(life); // closes the handler's generator
        begin();
        const sending = this.#send(served, message);
        if (sending !== undefined) {
          await sending;
        }
        throwIfOver(life);
      }
      throwIfOver(life); // a handler may end without a word when its signal tells it to
    } finally {
      begin(); // what the headers tell is true of a call that fails, too
    }
    this.#end(undefined, trailer);
  }

  /** Sends a message, at once where there is room. */
  #send({ spec: { method } }: ServedMethod, message: Message): Promise<void> | undefined {
    const bytes = toBytes(method.output, create(method.output, message));
    if (bytes.length > maxResponseBytes) {
      throw new ConnectError(`An answer may have ${maxResponseBytes} bytes.`, Code.ResourceExhausted);
    }
    if (bytes.length <= pieceBytes && this.#hasRoom) {
      this.#sendLast(bytes, bytes.length);
      return undefined;
    }
    return this.#sendPieces(bytes);
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

  /** Waits until the caller has room, or the call is over. `bytes`: what waits. */
  async #room(bytes: number): Promise<void> {
    if (this.#hasRoom) {
      return;
    }
    const { bounds } = this.#carrier;
    const waiting = new WaitingAnswer(this.#payer, bytes, () => this.#life.abort(unreadTooLong()));
    bounds.unread.add(waiting);
    this.#life.onEnd(() => this.wake());
    while (!this.#hasRoom && this.#life.reason === undefined) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#wake = undefined;
    bounds.unread.delete(waiting);
    throwIfOver(this.#life);
  }

  /** `length`: of the whole message. */
  #sendLast(bytes: Uint8Array, length: number): void {
    this.#unread.add(length);
    this.#sendPart(parts.message, bytes);
  }

  #sendPart(part: number, bytes: Uint8Array): void {
    if (!this.#isEnded) {
      this.#carrier.send({ call: this.number, part, bytes });
    }
  }

  #sendHead(header: Headers): void {
    const headers = toCarried(header);
    if (headers.length > 0 && !this.#isEnded) {
      this.#carrier.send(toFrame(this.number, parts.head, schemas.head, { headers }));
    }
  }

  #end(error: unknown, trailer?: Headers): void {
    if (this.#isEnded) {
      return;
    }
    this.#isEnded = true;
    this.#carrier.send(
      toFrame(this.number, parts.end, schemas.end, error === undefined ? toOk(trailer) : toEnd(error)),
    );
    this.#carrier.delete(this.number);
  }
}

function readMessage({ spec: { method } }: ServedMethod, bytes: Uint8Array): Message | ConnectError {
  if (bytes.length > maxRequestBytes) {
    return new ConnectError(`A request may have ${maxRequestBytes} bytes.`, Code.ResourceExhausted);
  }
  try {
    return fromBinary(method.input, bytes);
  } catch (cause) {
    return new ConnectError(`The request message cannot be read: ${(cause as Error).message}`, Code.InvalidArgument);
  }
}

function toOk(trailer: Headers | undefined) {
  return { code: 0, trailers: trailer === undefined ? [] : toCarried(trailer) };
}

function toEnd(error: unknown) {
  const { code, details: message, metadata } = toStatus(error);
  return { code, message, trailers: toCarried(toHeaders(metadata, new CallHeaders())) };
}

function throwIfOver({ reason }: CallSignal): void {
  if (reason !== undefined) {
    throw reason;
  }
}

function unreadTooLong(): ConnectError {
  return new ConnectError("the caller took nothing of the answer for too long", Code.Canceled);
}
