import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, expect, test } from "@jest/globals";
import { Handoffs } from "../../../../src/compose/workers/workarounds/lost-handoffs.ts";
import { pause } from "../../../support/pause.ts";

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

async function fork(handoffs: Pick<Handoffs, "watch">): Promise<{ worker: Worker; port: number }> {
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

/** What becomes of a connection that is handed to a worker just before it stops or dies. */
async function askInLastMoment(order: "stop" | "die", handoffs: Pick<Handoffs, "watch">): Promise<string> {
  const { worker, port } = await fork(handoffs);
  const deaf = once(worker, "message");
  worker.send(order);
  await deaf;
  const told = once(worker, order === "stop" ? "message" : "exit");
  const answer = ask(port);
  await told;
  return Promise.race([answer, pause(whileMs, "for an end that does not come").then(() => "open")]);
}

test.each(["stop", "die"] as const)("a connection on its way to a worker ends when it does: %s", async (order) => {
  expect(await askInLastMoment(order, new Handoffs())).toBe("");
});

test.each(["stop", "die"] as const)("Node.js alone leaves it open, so the workaround is needed: %s", async (order) => {
  expect(await askInLastMoment(order, unwatched)).toBe("open");
});

test("a connection that one worker refuses is answered by another that listens", async () => {
  const handoffs = new Handoffs();
  const first = await fork(handoffs);
  const second = await fork(handoffs);
  expect(second.port).toBe(first.port);
  const deaf = once(first.worker, "message");
  first.worker.send("stop");
  await deaf;
  const answers = await Promise.all([ask(first.port), ask(first.port), ask(first.port)]);
  expect(answers).toEqual(Array(3).fill(expect.stringMatching(/answered$/)));
});
