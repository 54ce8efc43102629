import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import type { ResponseHandler } from "#src/fleet/engines/shared/http/client/interface.ts";

/** A server that answers what a test says, and keeps what it got on each connection. */
export class RawServer {
  readonly #server: Server;
  readonly sockets: Socket[] = [];
  readonly received: string[] = [];
  answer: (socket: Socket, request: string) => void = (socket) => socket.write(hello);

  constructor() {
    this.#server = createServer((socket) => {
      this.sockets.push(socket);
      socket.on("error", () => {});
      socket.on("data", (piece) => {
        this.received.push(piece.toString());
        this.answer(socket, piece.toString());
      });
    });
  }

  async listen(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  }

  /** Takes no more connections, and leaves those that are open. */
  stopListening(): void {
    this.#server.close();
  }

  close(): void {
    for (const socket of this.sockets) {
      socket.destroy();
    }
    this.#server.close();
  }
}

/** The answer of a call, as text, or its failure. */
export class Outcome implements ResponseHandler {
  status = 0;
  text = "";
  readonly #over = Promise.withResolvers<this>();
  readonly #begun = Promise.withResolvers<void>();
  get over() {
    return this.#over.promise;
  }
  /** The first byte of the body is there. */
  get begun() {
    return this.#begun.promise;
  }
  onStart(status: number) {
    this.status = status;
  }
  onData(piece: Buffer) {
    this.text += piece.toString();
    this.#begun.resolve();
  }
  onRead() {}
  onEnd() {
    this.#over.resolve(this);
  }
  onError(error: Error) {
    this.#over.reject(error);
  }
}

/** An answer that keeps its connection. */
export const hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
