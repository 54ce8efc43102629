import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A Valkey or Redis for tests. */
export interface RedisServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Uses the server at TOLLGATE_TEST_REDIS_URL, else starts redis-server or valkey-server from the PATH. */
export async function startRedis(): Promise<RedisServer> {
  const given = process.env.TOLLGATE_TEST_REDIS_URL;
  if (given !== undefined) return { url: given, stop: async () => {} };
  return (await startFromPath("redis-server")) ?? (await startFromPath("valkey-server")) ?? noServer();
}

/** A door to a server that a test can shut. */
export interface Door {
  readonly url: string;
  /** Cuts every connection and refuses new ones. */
  shut(): Promise<void>;
  /** Takes connections and never answers, as a server that hangs. */
  hang(): void;
  open(): Promise<void>;
}

export async function startDoor(serverUrl: string): Promise<Door> {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let hanging = false;
  let port = 0;
  let server: Server | undefined;
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  const door: Door = {
    get url() {
      const url = new URL(serverUrl);
      url.hostname = "127.0.0.1";
      url.port = String(port);
      return url.href;
    },
    async shut() {
      cut();
      await new Promise((resolve) => server?.close(resolve));
    },
    hang() {
      hanging = true;
    },
    async open() {
      if (hanging) cut();
      hanging = false;
      if (server?.listening) return;
      server = createServer((inside) => {
        const outside = connect(Number(target.port || 6379), target.hostname);
        for (const [from, to] of [
          [inside, outside],
          [outside, inside],
        ] as const) {
          sockets.add(from);
          from.on("data", (data) => hanging || to.write(data));
          from.on("error", () => {});
          from.on("close", () => {
            sockets.delete(from);
            to.destroy();
          });
        }
      });
      const listening = server;
      await new Promise<void>((resolve) => listening.listen(port, "127.0.0.1", resolve));
      port = (listening.address() as AddressInfo).port;
    },
  };
  await door.open();
  return door;
}

async function startFromPath(program: string): Promise<RedisServer | undefined> {
  const directory = await mkdtemp(join(tmpdir(), "tollgate-redis-"));
  const port = await freePort();
  const child = spawn(program, ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", directory], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const started = await new Promise<boolean>((resolve) => {
    child.once("error", () => resolve(false));
    child.once("exit", () => resolve(false));
    child.stdout.on("data", (text: Buffer) => text.includes("Ready to accept connections") && resolve(true));
  });
  const clean = () => rm(directory, { recursive: true, force: true });
  if (!started) {
    await clean();
    return undefined;
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    async stop() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill();
      await ended;
      await clean();
    },
  };
}

function noServer(): never {
  throw new Error("these tests need Redis or Valkey: install redis-server, or set TOLLGATE_TEST_REDIS_URL");
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
