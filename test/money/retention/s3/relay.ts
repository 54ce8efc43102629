import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

/** A question to a server: its method, object and query, the length of its body, and what of the object is wanted. */
export interface Asked {
  readonly what: string;
  readonly bytes: number;
  readonly range: string | undefined;
}

/** Answers a question in the server's place. Undefined: it does not. */
export type Answer = (what: string) => { readonly status: number; readonly body?: string } | undefined;

/** Stands before a server, and counts what it is asked. */
export class Relay {
  readonly endpoint: string;
  asked: Asked[] = [];
  answer: Answer = () => undefined;
  readonly close: () => void;

  private constructor(endpoint: string, close: () => void) {
    [this.endpoint, this.close] = [endpoint, close];
  }

  static async start(to: string): Promise<Relay> {
    const server = createServer(async (incoming, outgoing) => {
      const parts: Buffer[] = [];
      for await (const part of incoming) {
        parts.push(part);
      }
      const body = Buffer.concat(parts);
      const { method, url, headers } = incoming;
      const what = `${method} ${url}`;
      relay.asked.push({ what, bytes: body.length, range: headers.range });
      const own = relay.answer(what);
      if (own !== undefined) {
        outgoing.writeHead(own.status).end(own.body);
        return;
      }
      const forwarded = request(`${to}${url}`, { method, headers }, (answered) => {
        outgoing.writeHead(answered.statusCode ?? 0, answered.headers);
        answered.pipe(outgoing);
      });
      forwarded.end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const relay = new Relay(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, () => {
      server.closeAllConnections();
      server.close();
    });
    return relay;
  }
}
