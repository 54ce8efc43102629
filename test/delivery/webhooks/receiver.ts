import { createHmac } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as an endpoint got it. */
export interface Received {
  readonly id: string;
  readonly signature: string;
  readonly timestamp: string;
  readonly body: string;
  readonly event: { readonly type: string; readonly timestamp: string; readonly data: Record<string, string> };
}

/** A real endpoint. What it answers can be changed; "hang": nothing. */
export class Receiver {
  readonly received: Received[] = [];
  answer: (request: Received) => number | "hang" = () => 204;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<Receiver> {
    const server = createServer();
    const receiver = new Receiver(server);
    server.on("request", async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) {
        chunks.push(chunk as Buffer);
      }
      const body = Buffer.concat(chunks).toString();
      const header = (name: string) => String(request.headers[name] ?? "");
      const got = {
        ...{ id: header("webhook-id"), signature: header("webhook-signature"), timestamp: header("webhook-timestamp") },
        ...{ body, event: JSON.parse(body) },
      };
      const status = receiver.answer(got);
      if (status === "hang") {
        return;
      }
      if (status < 300) {
        receiver.received.push(got);
      }
      response.writeHead(status, status === 302 ? { location: "/elsewhere" } : {}).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/events`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Signs as Standard Webhooks says, worked out by the test itself. */
export function signatureOf({ id, timestamp, body }: Received, secret: string): string {
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
}
