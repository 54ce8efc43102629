import { type DescMethodUnary, fromBinary, type Message } from "@bufbuild/protobuf";
import { Code, ConnectError, createContextValues } from "@connectrpc/connect";
import type { Start } from "#gen/tollgate/calls/v1/calls_service_pb.js";
import { type CallSignal, createCallSignal } from "../../call-signal.ts";
import { hangUpKey } from "../../hang-up.ts";
import { type CallInit, invokeStream, invokeUnary, type ServedMethod } from "../../invoke.ts";
import { type CallHead, refuse } from "../../server/gate.ts";
import { peerKey } from "../../server/peer.ts";
import { maxHeaderBytes, maxRequestBytes } from "../../wire/limits.ts";
import { OneMessage } from "../../wire/messages.ts";
import { carriedLength, fromCarried } from "../headers.ts";
import { CarriedAnswer } from "./carried-answer.ts";
import type { CoreStream } from "./interface.ts";

/** A carried call on the core's side. It is admitted, run and answered like an ordinary one. */
export class ServedCall {
  readonly number: number;
  readonly #carrier: CoreStream;
  readonly #start: Start;
  readonly #life: CallSignal;
  readonly #answer: CarriedAnswer;
  #isWhole = false;

  constructor(carrier: CoreStream, number: number, start: Start) {
    this.#carrier = carrier;
    this.number = number;
    this.#start = start;
    this.#life = createCallSignal(undefined, start.timeoutMs || undefined);
    this.#answer = new CarriedAnswer(carrier, number, this.#life);
  }

  /** Whether the request message has arrived. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** The caller has read this many more messages. */
  credit(messages: number): void {
    this.#answer.credit(messages);
  }

  /** The caller may have room. */
  wake(): void {
    this.#answer.wake();
  }

  /** The caller has gone: nothing more is sent. */
  cancel(): void {
    this.#answer.drop();
    this.#life.abort(new ConnectError("the caller cancelled the call", Code.Canceled));
  }

  /** Answers the call with an error before it is run. */
  refuse(error: unknown): void {
    this.#isWhole = true;
    this.#answer.end(error);
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
      this.#answer.end(error);
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
      await this.#invoke(served, head, bytes);
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

  /** Admits the call. While admission waits, the message counts against the memory for received messages. */
  async #admit(served: ServedMethod, head: CallHead, bytes: number): Promise<void> {
    const { gate, receiving } = this.#carrier.bounds;
    let admission: string | Promise<string>;
    try {
      admission = gate.admit(head);
      if (typeof admission === "string") {
        this.#answer.payer = admission;
        return;
      }
      const reception = receiving.begin(this.#carrier.peer ?? "", (reason) => this.#life.abort(reason));
      reception.take(bytes);
      this.#answer.payer = await admission.finally(() => reception.end());
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

  async #invoke(served: ServedMethod, head: CallHead, bytes: Uint8Array): Promise<void> {
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
      this.#answer.sendHead(header);
      await this.#answer.send(served.spec.method.output, answer);
      return this.#answer.end(undefined, trailer);
    }
    await this.#stream(served, init, message);
  }

  async #stream(served: ServedMethod, init: CallInit, request: Message): Promise<void> {
    const { message: messages, header, trailer } = await invokeStream(served, init, new OneMessage(request));
    let hasBegun = false;
    const begin = () => {
      if (!hasBegun) {
        hasBegun = true;
        this.#answer.sendHead(header);
      }
    };
    const life = this.#life;
    try {
      for await (const message of messages) {
        throwIfOver(life); // closes the handler's generator
        begin();
        const sending = this.#answer.send(served.spec.method.output, message);
        if (sending !== undefined) {
          await sending;
        }
        throwIfOver(life);
      }
      throwIfOver(life); // a handler may end silently when its signal aborts
    } finally {
      begin(); // the headers are valid for a call that fails, too
    }
    this.#answer.end(undefined, trailer);
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

function throwIfOver({ reason }: CallSignal): void {
  if (reason !== undefined) {
    throw reason;
  }
}
