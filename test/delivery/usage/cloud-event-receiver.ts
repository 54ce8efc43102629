import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { CloudEvent, HTTP } from "cloudevents";

/** A real endpoint that reads requests with the SDK of CloudEvents, which refuses what breaks the specification. */
export class CloudEventReceiver {
  /** The batches that came, whatever was answered. */
  readonly batches: CloudEvent<Record<string, unknown>>[][] = [];
  readonly authorizations = new Set<string>();
  readonly contentTypes = new Set<string>();
  /** The status to answer with. */
  answer: () => number = () => 204;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<CloudEventReceiver> {
    const server = createServer();
    const receiver = new CloudEventReceiver(server);
    server.on("request", async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) {
        chunks.push(chunk as Buffer);
      }
      receiver.authorizations.add(String(request.headers.authorization));
      receiver.contentTypes.add(String(request.headers["content-type"]));
      const message = { headers: request.headers, body: Buffer.concat(chunks).toString() };
      const found = HTTP.toEvent<Record<string, unknown>>(message);
      const events = (Array.isArray(found) ? found : [found]).map((event) => new CloudEvent(event));
      for (const event of events) {
        event.validate();
      }
      receiver.batches.push(events);
      response.writeHead(receiver.answer()).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return receiver;
  }

  /** Events by id, as a receiver keeps them that knows what it had before; the first of each counts. */
  get events(): CloudEvent<Record<string, unknown>>[] {
    const byId = new Map<string, CloudEvent<Record<string, unknown>>>();
    for (const event of this.batches.flat()) {
      if (!byId.has(event.id)) {
        byId.set(event.id, event);
      }
    }
    return [...byId.values()];
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/api/v1/events`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
