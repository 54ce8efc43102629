import { Code } from "@connectrpc/connect";
import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { eventually } from "../../../support/eventually.ts";
import { pause } from "../../../support/pause.ts";
import { startFront } from "../front-server.ts";
import { refused, scriptedCore } from "../scripted-core.ts";
import { body, clients, KiB, MiB, open, path } from "./flood.ts";

const stranger = "127.8.0.1";
const large = body.padEnd(1.9 * MiB);

test("of the large bodies of a key that is beyond its rate, one is read", async () => {
  let isKnown = false;
  const { transport, log } = scriptedCore({
    rateLimit: { limit: 1, remaining: 1, resetAfterMs: 60_000 },
    refuse: () => (isKnown ? refused(Reason.RATE_LIMITED, "Wait.", Code.ResourceExhausted) : undefined),
    // biome-ignore lint/correctness/useYield: it is refused
    async *generate() {
      isKnown = true;
      throw refused(Reason.RATE_LIMITED, "Wait.", Code.ResourceExhausted);
    },
  });
  await using front = await startFront(transport);
  for (let at = 0; at < 8; at += 1) {
    open(front, stranger).post(path, large);
  }
  await Promise.all(clients.map((client) => client.until(/^HTTP\/1.1 429 /)));
  expect(log.generated).toHaveLength(1);
});

test("large bodies of a key within its rate wait for none of its others", async () => {
  const { transport } = scriptedCore();
  await using front = await startFront(transport);
  const half = large.length / 2;
  for (let at = 0; at < 8; at += 1) {
    open(front, stranger).post(path, large.slice(0, half), { "content-length": String(large.length) });
  }
  for (const client of [...clients].reverse()) {
    client.socket.write(large.slice(half));
    await client.until(/^HTTP\/1.1 200 /);
  }
});

test("of a network's large bodies 512 KiB are read in a turn of the event loop", async () => {
  const due: (() => void)[] = [];
  const { transport, log } = scriptedCore();
  await using front = await startFront(transport, { nextTurn: (run) => due.push(run) });
  const client = open(front, stranger);
  client.post(path, large);
  let turns = 0;
  await eventually("it is answered", async () => {
    await pause(10, "nothing more is read in this turn");
    const isAnswered = log.generated.length > 0;
    if (!isAnswered) {
      turns += due.length > 0 ? 1 : 0;
      for (const run of due.splice(0)) {
        run();
      }
    }
    return isAnswered;
  });
  expect(turns).toBeGreaterThanOrEqual(Math.floor((large.length - 64 * KiB) / (512 * KiB)));
  await client.until(/^HTTP\/1.1 200 /);
});
