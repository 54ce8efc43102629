import { connect as connectHttp2 } from "node:http2";
import type { Socket } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { type ListenerName, listenerNames } from "#lib/door/bounds.ts";
import { eventually } from "../../support/eventually.ts";
import { pause } from "../../support/pause.ts";
import { startListener, stranger } from "./listeners.ts";

/** A client of a listener that asks for what is not there, and counts its answers. */
function askerOf(name: ListenerName, socket: Socket) {
  const asker = { answers: 0, ask: () => void socket.write("GET /nowhere HTTP/1.1\r\nhost: t\r\n\r\n") };
  if (name === "grpc") {
    const session = connectHttp2("http://t", { createConnection: () => socket }).on("error", () => {});
    asker.ask = () => {
      const call = session.request({ ":method": "POST", ":path": "/nowhere", "content-type": "application/grpc" });
      call.on("response", () => asker.answers++).on("error", () => {});
      call.resume().end(Buffer.alloc(5));
    };
  } else {
    socket.on("data", (bytes: Buffer) => {
      asker.answers += bytes.toString("latin1").split("HTTP/1.1 ").length - 1;
    });
  }
  return asker;
}

describe.each(listenerNames)("the listener %s", (name) => {
  test("takes in eight new connections of a network a turn, or one, and one request, while that owes for refusals", async () => {
    const due: (() => void)[] = [];
    let isHeld = true;
    const nextTurn = (run: () => void) => void (isHeld ? due.push(run) : setImmediate(run));
    const { open, door } = await startListener(name, { nextTurn });
    const turn = async () => {
      for (const run of due.splice(0)) {
        run();
      }
      await pause(5, "what this turn let in is answered, and no more");
    };
    const askers = Array.from({ length: 10 }, () => askerOf(name, open(stranger)));
    const answered = () => askers.reduce((sum, { answers }) => sum + answers, 0);
    const askAll = () => askers.forEach(({ ask }) => void ask());
    askAll();
    await eventually("all have come, and eight are taken in", () => door.connections.size === 10 && answered() >= 8);
    expect(answered()).toBe(8);
    isHeld = false;
    await turn();
    await eventually("so are the others", () => answered() === 10);
    for (let asked = 20; asked <= 40; asked += 10) {
      askAll();
      await eventually("they are answered, the first ones at once", () => answered() === asked);
    }
    isHeld = true;
    askAll();
    for (let taken = 41; taken <= 43; taken += 1) {
      await eventually("the next is answered", () => answered() >= taken);
      expect(answered()).toBe(taken);
      await turn();
    }
    isHeld = false;
    await turn();
    await eventually("all are answered", () => answered() === 50);
    isHeld = true;
    const newcomers = [askerOf(name, open(stranger)), askerOf(name, open(stranger))];
    newcomers.forEach(({ ask }) => void ask());
    await eventually("both have come", () => door.connections.size === 12);
    await eventually("one is taken in", () => newcomers.some(({ answers }) => answers === 1));
    expect(newcomers.filter(({ answers }) => answers === 1)).toHaveLength(1);
    await turn();
    await eventually("so is the other", () => newcomers.every(({ answers }) => answers === 1));
  });
});
