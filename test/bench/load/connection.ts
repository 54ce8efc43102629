import { connect, type Socket } from "node:net";

/** Who hears of the one response that is under way. */
export interface ResponseListener {
  /** A part of the body, without chunk framing. */
  body(piece: Buffer): void;
  end(status: number): void;
  failed(reason: string): void;
}

/**
 * One keep-alive HTTP/1.1 connection that sends requests encoded before and takes responses apart with as little work
 * as possible, so that on a small machine the load generator leaves the CPU to what it measures.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #listener: ResponseListener;
  /** Bytes of a head or a chunk's size line that is not complete yet. */
  #rest: Buffer | undefined;
  #state: "idle" | "head" | "fixed" | "size" | "chunk" | "chunk end" | "trailer" = "idle";
  #status = 0;
  /** Bytes that the fixed body, the chunk or its end still owes. */
  #owed = 0;

  /** `localAddress`: where it comes from. Undefined: the machine chooses. */
  constructor(host: string, port: number, listener: ResponseListener, localAddress?: string) {
    this.#listener = listener;
    this.#socket = connect({ host, port, noDelay: true, ...(localAddress !== undefined && { localAddress }) });
    this.#socket.on("data", (bytes: Buffer) => this.#take(bytes));
    this.#socket.on("error", (error) => this.#fail(error.message));
    this.#socket.on("close", () => this.#fail("connection closed"));
  }

  send(request: Buffer): void {
    this.#state = "head";
    this.#socket.write(request);
  }

  close(): void {
    this.#socket.removeAllListeners("close");
    this.#socket.destroy();
  }

  #fail(reason: string): void {
    this.#socket.removeAllListeners("close");
    this.#socket.destroy();
    this.#listener.failed(reason);
  }

  #take(bytes: Buffer): void {
    const all = this.#rest ? Buffer.concat([this.#rest, bytes]) : bytes;
    this.#rest = undefined;
    let at = 0;
    while (at < all.length) {
      const next = this.#step(all, at);
      if (next === undefined) {
        this.#rest = all.subarray(at);
        return;
      }
      at = next;
    }
  }

  /** Consumes one element at a position and returns the position after it, or nothing when it is not complete. */
  #step(bytes: Buffer, at: number): number | undefined {
    switch (this.#state) {
      case "head": {
        const end = bytes.indexOf("\r\n\r\n", at);
        if (end === -1) {
          return undefined;
        }
        this.#head(bytes.toString("latin1", at, end).toLowerCase());
        return end + 4;
      }
      case "size": {
        const end = bytes.indexOf("\r\n", at);
        if (end === -1) {
          return undefined;
        }
        this.#owed = Number.parseInt(bytes.toString("latin1", at, end), 16);
        this.#state = this.#owed === 0 ? "trailer" : "chunk";
        return end + 2;
      }
      case "fixed":
      case "chunk": {
        const end = Math.min(at + this.#owed, bytes.length);
        this.#owed -= end - at;
        this.#listener.body(bytes.subarray(at, end));
        if (this.#owed > 0) {
          return end;
        }
        if (this.#state === "fixed") {
          this.#end();
        } else {
          this.#state = "chunk end";
          this.#owed = 2;
        }
        return end;
      }
      case "chunk end": {
        const end = Math.min(at + this.#owed, bytes.length);
        this.#owed -= end - at;
        if (this.#owed === 0) {
          this.#state = "size";
        }
        return end;
      }
      case "trailer": {
        const end = bytes.indexOf("\r\n", at);
        if (end === -1) {
          return undefined;
        }
        if (end === at) {
          this.#end();
        }
        return end + 2;
      }
      case "idle":
        this.#fail("bytes after the end of the response");
        return bytes.length;
    }
  }

  #head(head: string): void {
    this.#status = Number(head.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/.exec(head)?.[1];
    if (head.includes("\r\ntransfer-encoding: chunked")) {
      this.#state = "size";
    } else if (length === undefined) {
      this.#fail("neither a length nor chunks");
    } else {
      this.#owed = Number(length);
      this.#state = "fixed";
      if (this.#owed === 0) {
        this.#end();
      }
    }
  }

  #end(): void {
    this.#state = "idle";
    this.#listener.end(this.#status);
  }
}
