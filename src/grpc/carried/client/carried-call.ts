import { Metadata, status as Status, type StatusObject } from "@grpc/grpc-js";
import type { OutgoingCall, ResponseListener } from "../../client/outgoing-call.ts";
import { maxResponseBytes } from "../../wire/limits.ts";
import type { HeadersInit } from "../../wire/metadata.ts";
import { type Frame, parts, readPart, schemas, toFrame } from "../frames.ts";
import { carriedMetadata, toCarried } from "../headers.ts";
import { creditBytes, creditMessages } from "../limits.ts";
import { Unread } from "../unread.ts";
import type { Carried, Carrier } from "./carrier.ts";

/** The longest time of a timer, in milliseconds. A longer deadline is ignored. */
const longestTimerMs = 2 ** 31 - 1;
const noMetadata = new Metadata();
/** The core gets credit for read messages in steps of this many messages or bytes. */
const stepMessages = creditMessages / 2;
const stepBytes = creditBytes / 2;

/** A call that shares a stream with other calls. It has one request message. */
export class CarriedCall implements OutgoingCall, Carried {
  readonly #carrier: Carrier;
  readonly #path: string;
  readonly #deadline: number;
  #header: HeadersInit;
  #listener: ResponseListener | undefined;
  /** The call's number on the stream. Undefined: not begun. */
  #number: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #message: Uint8Array = new Uint8Array(0);
  #isOpen = false;
  #isOver = false;
  /** Messages that the reader has asked for and not received. */
  #asked = 0;
  readonly #unread = new Unread();
  /** Messages, and their bytes, that the reader has received and the core has no credit for yet. */
  #readMessages = 0;
  #readBytes = 0;
  /** Messages that arrived before they were asked for. The status follows them. */
  #arrived: Uint8Array[] = [];
  #status: StatusObject | undefined;
  #pieces: Uint8Array[] = [];
  #pieceBytes = 0;

  /** `deadline` is in milliseconds since the Unix epoch. */
  constructor(carrier: Carrier, path: string, deadline: number) {
    this.#carrier = carrier;
    this.#path = path;
    this.#deadline = deadline;
  }

  start(header: HeadersInit, listener: ResponseListener): void {
    this.#header = header;
    this.#listener = listener;
  }

  sendMessageWithContext({ callback }: { callback?: () => void }, bytes: Buffer): void {
    this.#message = bytes;
    callback?.();
  }

  /** Sends the call with its message. */
  halfClose(): void {
    if (this.#isOver) {
      return;
    }
    const call = this.#carrier.begin(this);
    if (call === undefined) {
      this.fail(Status.UNAVAILABLE, "the stream to the core ended");
      return;
    }
    this.#number = call;
    const timeoutMs = this.#startTimer();
    const start = { path: this.#path, headers: toCarried(this.#header), timeoutMs };
    const message = { call, part: parts.message, bytes: this.#message };
    this.#carrier.send(toFrame(call, parts.start, schemas.start, start), message);
    this.#message = new Uint8Array(0);
  }

  startRead(): void {
    this.#asked += 1;
    this.#deliver();
  }

  cancelWithStatus(code: Status, details: string): void {
    if (this.#number !== undefined) {
      this.#carrier.send(toFrame(this.#number, parts.cancel, schemas.cancel, {}));
    }
    this.fail(code, details);
  }

  fail(code: Status, details: string): void {
    this.#finish({ code, details, metadata: new Metadata() });
  }

  receive(frame: Frame): void {
    switch (frame.part) {
      case parts.head:
        this.#open(carriedMetadata(readPart(schemas.head, frame).headers));
        return;
      case parts.piece:
        this.#keep(frame.bytes);
        return;
      case parts.message:
        this.#receiveMessage(frame.bytes);
        return;
      case parts.end: {
        const { code, message: details, trailers } = readPart(schemas.end, frame);
        this.#status = { code, details, metadata: carriedMetadata(trailers) };
        this.#release();
        this.#deliver();
      }
    }
  }

  #open(metadata: Metadata): void {
    if (!this.#isOpen) {
      this.#isOpen = true;
      this.#listener?.onReceiveMetadata(metadata);
    }
  }

  #receiveMessage(bytes: Uint8Array): void {
    if (this.#unread.isFull) {
      this.#carrier.breakOff("the core sent more than there was room for");
      return;
    }
    this.#keep(bytes);
    if (this.#isOver) {
      return;
    }
    this.#unread.add(this.#pieceBytes);
    const [only, ...more] = this.#pieces;
    const whole = more.length === 0 ? (only ?? bytes) : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#pieceBytes = 0;
    this.#arrived.push(whole);
    this.#deliver();
  }

  /** Delivers the messages that were asked for, and gives the core credit for them. */
  #deliver(): void {
    while (this.#asked > 0) {
      const message = this.#arrived.shift();
      if (message === undefined) {
        break;
      }
      this.#asked -= 1;
      this.#countRead(message.length);
      this.#open(noMetadata); // without headers
      this.#listener?.onReceiveMessage(message);
    }
    if (this.#status !== undefined && this.#arrived.length === 0) {
      this.#finish(this.#status);
    }
  }

  #countRead(bytes: number): void {
    this.#readMessages += 1;
    this.#readBytes += bytes;
    const isWorthIt = this.#readMessages >= stepMessages || this.#readBytes >= stepBytes;
    if (isWorthIt && this.#number !== undefined) {
      this.#unread.remove(this.#readMessages);
      const credit = { messages: this.#readMessages };
      this.#carrier.send(toFrame(this.#number, parts.credit, schemas.credit, credit));
      this.#readMessages = 0;
      this.#readBytes = 0;
    }
  }

  #keep(bytes: Uint8Array): void {
    this.#pieceBytes += bytes.length;
    if (this.#pieceBytes > maxResponseBytes) {
      this.cancelWithStatus(Status.RESOURCE_EXHAUSTED, "the response message is too large");
    } else {
      this.#pieces.push(bytes);
    }
  }

  #finish(status: StatusObject): void {
    if (this.#isOver) {
      return;
    }
    this.#isOver = true;
    this.#pieces = [];
    this.#arrived = [];
    this.#release();
    this.#listener?.onReceiveStatus(status);
  }

  /** The core has finished the call, or is to stop. */
  #release(): void {
    clearTimeout(this.#timer);
    if (this.#number !== undefined) {
      this.#carrier.delete(this.#number);
      this.#number = undefined;
    }
  }

  /** Starts the deadline's timer. Returns how long the call may take, in milliseconds. 0: no limit. */
  #startTimer(): number {
    const left = Math.max(1, Math.ceil(this.#deadline - Date.now()));
    if (left > longestTimerMs) {
      return 0;
    }
    this.#timer = setTimeout(() => this.cancelWithStatus(Status.DEADLINE_EXCEEDED, "the operation timed out"), left);
    return left;
  }
}
