import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, expect, test } from "@jest/globals";
import { Handoffs } from "../../../../src/compose/workers/workarounds/lost-handoffs.ts";
import { eventually } from "../../../support/eventually.ts";
import { pause } from "../../../support/pause.ts";

type Order = "stop" | "die";

interface Fork {
  readonly worker: Worker;
  readonly port: number;
}

const unwatched = { watch: () => {} };
/** For what must not happen. */
const whileMs = 500;

const workers: Worker[] = [];
const sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) {
    socket.destroy();
  }
  for (const worker of workers.splice(0)) {
    worker.process.kill("SIGKILL");
  }
});

async function fork(handoffs: Pick<Handoffs, "watch">): Promise<Fork> {
  cluster.setupPrimary({ exec: `${import.meta.dirname}/listener.ts`, args: [] });
  const worker = cluster.fork();
  workers.push(worker);
  handoffs.watch(worker);
  const [{ port }] = (await once(worker, "message")) as [AddressInfo];
  return { worker, port };
}

/** Asks over a connection of its own; the answer, or "" when it ends without one. */
async function ask(port: number): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  sockets.push(socket);
  socket.on("error", () => {});
  socket.write("GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
  const ended = new Promise((resolve) => socket.once("close", resolve));
  let text = "";
  socket.on("data", (data) => {
    text += data;
  });
  await ended;
  return text;
}

/** Suspends a worker, has a connection handed to it, and lets it go on: to stop listening first, or to die. */
async function handOverLate({ worker, port }: Fork, order: Order): Promise<{ readonly answer: Promise<string> }> {
  worker.process.kill("SIGSTOP");
  let isHandedOver = false;
  const send = worker.process.send?.bind(worker.process) as (...args: unknown[]) => boolean;
  worker.process.send = (...args: unknown[]) => {
    isHandedOver ||= (args[0] as { act?: string }).act === "newconn";
    return send(...args);
  };
  const done = once(worker, order === "stop" ? "message" : "exit");
  worker.send("stop");
  const answer = ask(port);
  await eventually("the connection is handed over", () => isHandedOver);
  worker.process.kill(order === "stop" ? "SIGCONT" : "SIGKILL");
  await done;
  return { answer };
}

test.each<Order>(["stop", "die"])("a connection on its way to a worker ends when it does: %s", async (order) => {
  const { answer } = await handOverLate(await fork(new Handoffs()), order);
  expect(await answer).toBe("");
});

test.each<Order>(["stop", "die"])("Node.js alone leaves it open, so the workaround is needed: %s", async (order) => {
  const { answer } = await handOverLate(await fork(unwatched), order);
  const open = pause(whileMs, "for an end that does not come").then(() => "open");
  expect(await Promise.race([answer, open])).toBe("open");
});

test("a connection that one worker refuses is answered by another that listens", async () => {
  const handoffs = new Handoffs();
  const first = await fork(handoffs);
  const second = await fork(handoffs);
  expect(second.port).toBe(first.port);
  const { answer } = await handOverLate(first, "stop");
  const answers = await Promise.all([answer, ask(first.port), ask(first.port)]);
  expect(answers).toEqual(Array(3).fill(expect.stringMatching(/answered$/)));
});
