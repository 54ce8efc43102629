import type { Socket } from "node:net";
import { type Head, HeadReader } from "./head.ts";
import { HttpFault, type RequestMessage, type ResponseHandler } from "./interface.ts";
import { ResponseParser, type ResponseSink } from "./response-parser.ts";

/** Receives a connection's events. */
export interface ConnectionOwner {
  /** The connection can carry another call. `idleSeconds`: how long the server promises to keep it, if it does. */
  onIdle(connection: Connection, idleSeconds: number | undefined): void;
  /** The connection is closed. */
  onClosed(connection: Connection): void;
}

/** One connected socket. It carries one call at a time. */
export class Connection implements ResponseSink {
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  readonly #heads = new HeadReader();
  #handler: ResponseHandler | undefined;
  #parser: ResponseParser | undefined;
  #head: Head | undefined;
  #paused = false;
  #closed = false;
  /** Ticks of the owner's clock without a byte, while one is awaited. */
  #silentTurns = 0;

  constructor(socket: Socket, owner: ConnectionOwner) {
    this.#socket = socket;
    this.#owner = owner;
    socket.on("data", (piece: Buffer) => this.#read(piece));
    socket.on("end", () => this.#end());
    socket.on("error", (error) => this.#close(error));
    socket.on("close", () => this.#close(new HttpFault("CLOSED", "the server closed the connection")));
  }

  /** Sends a call. The connection must be idle. */
  start(host: string, message: RequestMessage, handler: ResponseHandler): void {
    this.#handler = handler;
    this.#parser = new ResponseParser(this, this.#heads);
    this.#silentTurns = 0;
    this.#socket.ref();
    this.#socket.write(encodeRequest(host, message));
  }

  /** Whether the connection carries this handler's call: a call that has ended must not control the next one. */
  carries(handler: ResponseHandler): boolean {
    return this.#handler === handler;
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
    if (this.#handler === undefined || this.#paused) {
      return;
    }
    this.#silentTurns++;
    if (this.#silentTurns > mostSilentTurns) {
      this.#close(new HttpFault("SILENT", "the server sent nothing for too long"));
    }
  }

  onHead(head: Head): void {
    this.#head = head;
    this.#handler?.onStart(head.status, head.headers);
  }

  onData(piece: Buffer): void {
    this.#handler?.onData(piece);
  }

  #read(piece: Buffer): void {
    const parser = this.#parser;
    if (parser === undefined) {
      this.#close(undefined); // unrequested bytes
      return;
    }
    this.#silentTurns = 0;
    try {
      parser.push(piece);
    } catch (error) {
      this.#close(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    if (parser.done) {
      this.#finish();
    } else {
      this.#handler?.onRead();
    }
  }

  #end(): void {
    if (this.#parser?.end() === true) {
      this.#finish();
    } else {
      this.#close(new HttpFault("CLOSED", "the server closed the connection"));
    }
  }

  /** The answer is complete. The connection is kept, unless it ends or the request is still being sent. */
  #finish(): void {
    const [handler, head] = [this.#handler, this.#head];
    this.#handler = undefined;
    this.#parser = undefined;
    this.#head = undefined;
    if (head?.keepsAlive === true && this.#socket.writable && this.#socket.writableLength === 0 && !this.#closed) {
      if (this.#paused) {
        this.resume();
      }
      this.#socket.unref();
      this.#owner.onIdle(this, head.idleSeconds);
    } else {
      this.#close(undefined);
    }
    handler?.onEnd();
  }

  #close(error: Error | undefined): void {
    if (this.#closed) {
      return;
    }
    this.#closed = true;
    const handler = this.#handler;
    this.#handler = undefined;
    this.#socket.destroy();
    this.#owner.onClosed(this);
    if (error !== undefined) {
      handler?.onError(error);
    }
  }
}

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
