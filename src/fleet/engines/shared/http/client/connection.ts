import type { Socket } from "node:net";
import { type Head, HeadReader } from "./head.ts";
import { HttpFault, type RequestMessage, type ResponseHandler } from "./interface.ts";
import { ResponseParser, type ResponseSink } from "./response-parser.ts";

/** A call as a connection carries it. */
export interface Carried {
  readonly message: RequestMessage;
  readonly handler: ResponseHandler;
}

/** Receives a connection's events. */
export interface ConnectionOwner<Call extends Carried> {
  /** The connection can carry another call. `idleSeconds`: how long the server promises to keep it, if it does. */
  onIdle(connection: Connection<Call>, idleSeconds: number | undefined): void;
  /** The connection is closed. */
  onClosed(connection: Connection<Call>): void;
  /**
   * The server closed a kept connection, and the call on it got no byte: most likely the server was closing it when the
   * call was sent.
   */
  onUnanswered(call: Call): void;
}

/** One connected socket. It carries one call at a time. */
export class Connection<Call extends Carried> implements ResponseSink {
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner<Call>;
  readonly #heads = new HeadReader();
  #call: Call | undefined;
  #parser: ResponseParser | undefined;
  #head: Head | undefined;
  #paused = false;
  #closed = false;
  /** Whether it was idle before the call. */
  #kept = false;
  /** Whether a byte came for the call. */
  #answered = false;
  /** Further calls that the server takes on it, by its own words. */
  #callsLeft = Number.POSITIVE_INFINITY;
  /** Ticks of the owner's clock without a byte, while one is awaited. */
  #silentTurns = 0;

  constructor(socket: Socket, owner: ConnectionOwner<Call>) {
    this.#socket = socket;
    this.#owner = owner;
    socket.on("data", (piece: Buffer) => this.#read(piece));
    socket.on("end", () => this.#end());
    socket.on("error", (error) => this.#lose(error));
    socket.on("close", () => this.#lose(closedByServer()));
  }

  /** Sends a call. The connection must be idle. `isKept`: it was so for a while, and is not new. */
  start(host: string, call: Call, isKept: boolean): void {
    this.#call = call;
    this.#kept = isKept;
    this.#answered = false;
    this.#parser = new ResponseParser(this, this.#heads);
    this.#silentTurns = 0;
    this.#socket.ref();
    this.#socket.write(encodeRequest(host, call.message));
  }

  /** Whether the connection carries this call: a call that has ended must not control the next one. */
  carries(call: Call): boolean {
    return this.#call === call;
  }

  pause(): void {
    this.#paused = true;
    this.#socket.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#silentTurns = 0;
    this.#socket.resume();
  }

  /** Closes the connection. The running call gets the reason; without a reason it gets nothing. */
  destroy(reason?: Error): void {
    this.#close(reason);
  }

  /** A tick of the owner's clock. `mostSilentTurns` ticks without a byte end the call. */
  tick(mostSilentTurns: number): void {
    if (this.#call === undefined || this.#paused) {
      return;
    }
    this.#silentTurns++;
    if (this.#silentTurns > mostSilentTurns) {
      this.#close(new HttpFault("SILENT", "the server sent nothing for too long"));
    }
  }

  onHead(head: Head): void {
    if (this.#kept && head.status === 408 && !head.keepsAlive) {
      this.#answered = false; // a farewell to an idle connection, sent before the call arrived: RFC 9110, 15.5.9
      this.#lose(closedByServer());
      return;
    }
    this.#head = head;
    this.#call?.handler.onStart(head.status, head.headers);
  }

  onData(piece: Buffer): void {
    this.#call?.handler.onData(piece);
  }

  #read(piece: Buffer): void {
    const parser = this.#parser;
    if (parser === undefined) {
      this.#close(undefined); // unrequested bytes
      return;
    }
    this.#silentTurns = 0;
    this.#answered = true;
    try {
      parser.push(piece);
    } catch (error) {
      this.#close(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    if (parser.done) {
      this.#finish();
    } else {
      this.#call?.handler.onRead();
    }
  }

  #end(): void {
    if (this.#parser?.end() === true) {
      this.#finish();
    } else {
      this.#lose(closedByServer());
    }
  }

  /** The answer is complete. The connection is kept, unless it ends or the request is still being sent. */
  #finish(): void {
    const [call, head] = [this.#call, this.#head];
    this.#call = undefined;
    this.#parser = undefined;
    this.#head = undefined;
    if (head !== undefined && this.#isKept(head)) {
      if (this.#paused) {
        this.resume();
      }
      this.#socket.unref();
      this.#owner.onIdle(this, head.idleSeconds);
    } else {
      this.#close(undefined);
    }
    call?.handler.onEnd();
  }

  /** The call that the server announces as the last one is not sent: servers count in different ways. */
  #isKept({ keepsAlive, callsLeft = Number.POSITIVE_INFINITY }: Head): boolean {
    this.#callsLeft = Math.min(this.#callsLeft, callsLeft) - 1;
    const isWritten = this.#socket.writable && this.#socket.writableLength === 0;
    return keepsAlive && this.#callsLeft > 0 && isWritten && !this.#closed;
  }

  /** The connection ended on the server's side. */
  #lose(error: Error): void {
    const call = this.#call;
    if (call === undefined || this.#closed || !this.#kept || this.#answered) {
      this.#close(error);
      return;
    }
    this.#close(undefined);
    this.#owner.onUnanswered(call);
  }

  #close(error: Error | undefined): void {
    if (this.#closed) {
      return;
    }
    this.#closed = true;
    const call = this.#call;
    this.#call = undefined;
    this.#socket.destroy();
    this.#owner.onClosed(this);
    if (error !== undefined) {
      call?.handler.onError(error);
    }
  }
}

const closedByServer = () => new HttpFault("CLOSED", "the server closed the connection");

/** Allowed in a header's value, a path or a host: visible ASCII and the space. */
const visible = /^[\x20-\x7e]*$/;

function encodeRequest(host: string, { method, path, headers, body }: RequestMessage): string {
  let head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  if (body !== undefined) {
    head += `content-length: ${Buffer.byteLength(body)}\r\n`;
  }
  for (const name in headers) {
    head += `${name}: ${headers[name]}\r\n`;
  }
  return body === undefined ? `${head}\r\n` : `${head}\r\n${body}`;
}

/** Throws when the receiver could misread the message's boundaries. */
export function checkMessage({ path, headers }: RequestMessage): void {
  if (!visible.test(path) || path.includes(" ")) {
    throw new TypeError("A path must be visible ASCII.");
  }
  for (const name in headers) {
    if (!visible.test(headers[name] ?? "")) {
      throw new TypeError(`The header ${name} must be visible ASCII.`);
    }
  }
}
