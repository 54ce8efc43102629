import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Ports below those that systems give to whoever asks for any: nobody else gets one before it is listened on. */
const [first, end] = [20_000, 32_000];
const mostTries = 100;

/** A loopback port that nobody listens on at the moment. */
export async function freePort(): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const port = randomInt(first, end);
    const server = createServer();
    try {
      await once(server.listen(port, "127.0.0.1"), "listening");
      server.close();
      await once(server, "close");
      return port;
    } catch (error) {
      if (tries === mostTries) {
        throw error;
      }
    }
  }
}
