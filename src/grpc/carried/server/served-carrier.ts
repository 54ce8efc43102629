import { Code, ConnectError } from "@connectrpc/connect";
import type * as grpc from "@grpc/grpc-js";
import { readHead } from "../../server/guard-calls.ts";
import { peerKey } from "../../server/peer.ts";
import { type Standing, standingKey } from "../../server/standing.ts";
import { toStatus } from "../../wire/status.ts";
import { type Batch, type Frame, leavingBatch, parts, readPart, schemas } from "../frames.ts";
import { maxCarriedCalls } from "../limits.ts";
import { Outbox } from "../outbox.ts";
import type { Bounds, CoreStream } from "./interface.ts";
import { ServedCall } from "./served-call.ts";

/** A stream that carries calls, on the core's side. A protocol violation ends the stream with its calls only. */
export class ServedCarrier implements CoreStream {
  readonly bounds: Bounds;
  readonly standing: Standing;
  readonly peer: string | undefined;
  readonly #stream: grpc.ServerDuplexStream<Batch | ConnectError, Buffer>;
  readonly #outbox: Outbox;
  readonly #calls = new Map<number, ServedCall>();
  #lastCall = 0;
  #hasRoom = true;
  #isClosing = false;
  #isOver = false;

  constructor(stream: grpc.ServerDuplexStream<Batch | ConnectError, Buffer>, bounds: Bounds) {
    const { contextValues } = readHead(stream.metadata);
    this.bounds = bounds;
    this.standing = contextValues.get(standingKey);
    this.peer = contextValues.get(peerKey);
    this.#stream = stream;
    this.#outbox = new Outbox((batch) => this.#write(batch));
    stream.on("data", (batch: Batch | ConnectError) => this.#receive(batch));
    stream.on("drain", () => this.#onRoom());
    stream.on("end", () => {
      this.#isClosing = true;
      this.#endIfDone();
    });
    stream.on("cancelled", () => this.#onOver());
    stream.on("close", () => this.#onOver());
    this.#write(Buffer.alloc(0));
  }

  get hasRoom(): boolean {
    return this.#hasRoom;
  }

  send(frame: Frame): void {
    if (!this.#isOver) {
      this.#outbox.add(frame);
    }
  }

  delete(call: number): void {
    this.#calls.delete(call);
    this.#endIfDone();
  }

  /** Tells the caller that the core is shutting down. */
  leave(): void {
    this.#write(leavingBatch);
  }

  #write(batch: Buffer): void {
    if (!this.#isOver) {
      this.#hasRoom = this.#stream.write(batch);
    }
  }

  #onRoom(): void {
    this.#hasRoom = true;
    for (const call of this.#calls.values()) {
      call.wake();
    }
  }

  #receive(batch: Batch | ConnectError): void {
    if (this.#isOver) {
      return;
    }
    try {
      if (batch instanceof ConnectError) {
        throw batch;
      }
      const begun: ServedCall[] = [];
      for (const frame of batch.frames) {
        this.#take(frame, begun);
      }
      if (begun.some(({ isWhole }) => !isWhole)) {
        throw new TypeError("a call came without its message");
      }
    } catch (error) {
      this.#breakOff(error instanceof ConnectError ? error : broken(error));
    }
  }

  #take(frame: Frame, begun: ServedCall[]): void {
    const { call, part } = frame;
    switch (part) {
      case parts.start: {
        if (call <= this.#lastCall) {
          throw new RangeError(`call ${call} came after ${this.#lastCall}`);
        }
        this.#lastCall = call;
        const served = new ServedCall(this, call, readPart(schemas.start, frame));
        if (this.#calls.size >= maxCarriedCalls) {
          served.refuse(new ConnectError(`A stream carries ${maxCarriedCalls} calls.`, Code.ResourceExhausted));
        } else {
          this.#calls.set(call, served);
        }
        begun.push(served);
        return;
      }
      case parts.message:
        begun.find(({ number }) => number === call)?.run(frame.bytes);
        return;
      case parts.credit:
        this.#calls.get(call)?.credit(readPart(schemas.credit, frame).messages);
        return;
      case parts.cancel:
        this.#calls.get(call)?.cancel();
        return;
      default:
        throw new RangeError(`a caller sends no part ${part}`);
    }
  }

  #breakOff(error: ConnectError): void {
    this.#onOver();
    this.#stream.emit("error", toStatus(error)); // grpc-js takes a stream's status this way
  }

  #endIfDone(): void {
    if (this.#isClosing && this.#calls.size === 0 && !this.#isOver) {
      this.#outbox.flush();
      this.#isOver = true;
      this.#stream.end();
    }
  }

  #onOver(): void {
    if (!this.#isOver) {
      this.#isOver = true;
      for (const call of [...this.#calls.values()]) {
        call.cancel();
      }
    }
  }
}

function broken(error: unknown): ConnectError {
  return new ConnectError(`The frames break a rule: ${(error as Error).message}`, Code.InvalidArgument);
}
