import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A TCP connection whose bytes a test writes and reads itself. */
export class RawClient {
  readonly socket: Socket;
  /** All that came so far. */
  received = "";

  /** Connects from this machine's usual address, or from another one of it, such as 127.0.0.2. */
  constructor(url: string, localAddress?: string) {
    const port = Number(new URL(url).port);
    this.socket = connect({ port, host: "127.0.0.1", ...(localAddress !== undefined && { localAddress }) });
    this.socket.setEncoding("utf8");
    this.socket.on("data", (text) => {
      this.received += text;
    });
    this.socket.on("error", () => {}); // seen as a close
  }

  /** Sends the head of a request with a body, or with a part of one. */
  post(path: string, body: string | Buffer, headers: Record<string, string | undefined> = {}): void {
    const lines: Record<string, string | undefined> = {
      host: "t",
      authorization: "Bearer tg-1",
      "content-length": String(Buffer.byteLength(body)),
      ...headers,
    };
    const head = Object.entries(lines).map(([name, value]) => (value === undefined ? "" : `${name}: ${value}\r\n`));
    this.socket.write(`POST ${path} HTTP/1.1\r\n${head.join("")}\r\n`);
    this.socket.write(body);
  }

  /** Resolves when what came matches. */
  until(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(this.received);
        if (match === null && !this.socket.closed) {
          return;
        }
        this.socket.off("data", look).off("close", look);
        if (match !== null) {
          resolve(match);
        } else {
          reject(new Error(`closed after ${JSON.stringify(this.received.slice(-1000))}`));
        }
      };
      this.socket.on("data", look).on("close", look);
      look();
    });
  }

  /** Takes the next answer, whose length is told, off what came, and resolves with its head once its body is there too. */
  async answer(): Promise<string> {
    const [head, length] = await this.until(/^HTTP\/1.1 \d+ .*?\r\ncontent-length: (\d+)\r\n.*?\r\n\r\n/is);
    const end = head.length + Number(length);
    while (this.received.length < end) {
      await once(this.socket, "data", { signal: AbortSignal.timeout(30_000) });
    }
    this.received = this.received.slice(end);
    return head;
  }

  /** Resolves when the other side has closed. */
  async closed(): Promise<void> {
    if (!this.socket.closed) {
      await once(this.socket, "close");
    }
  }
}
