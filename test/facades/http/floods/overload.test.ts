import { describe, expect, test } from "@jest/globals";
import { startFront } from "../front-server.ts";
import { answer, scriptedCore, started } from "../scripted-core.ts";
import { body, open, path } from "./flood.ts";

describe("while the process is overloaded", () => {
  test("new requests are told to come again, GET / is answered, and streams go on", async () => {
    const overload: { shortage: "memory" | undefined } = { shortage: undefined };
    const running = Promise.withResolvers<void>();
    const { transport, log } = scriptedCore({
      async *generate() {
        yield { events: [started()] };
        await running.promise;
        yield { events: answer("Hello").slice(1) };
      },
    });
    await using front = await startFront(transport, { overload });
    const stream = open(front);
    stream.post(path, JSON.stringify({ ...JSON.parse(body), stream: true }));
    await stream.until(/^HTTP\/1.1 200 /);
    overload.shortage = "memory";
    const chat = await fetch(front.url + path, { method: "POST", body: body.padEnd(200_000) });
    expect([chat.status, chat.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(await chat.json()).toMatchObject({ error: { type: "server_error", code: "overloaded" } });
    const messages = await fetch(`${front.url}/v1/messages`, { method: "POST", body });
    expect([messages.status, messages.headers.get("retry-after")]).toEqual([529, "5"]);
    expect(await messages.json()).toMatchObject({ error: { type: "overloaded_error" } });
    expect((await fetch(`${front.url}/v1/models`)).status).toBe(503);
    expect((await fetch(front.url)).status).toBe(200);
    expect((await fetch(`${front.url}/health`)).status).toBe(204);
    running.resolve();
    await stream.until(/\[DONE\]/);
    expect(log.generated).toHaveLength(1);
    expect(front.refused).toEqual(["overload", "overload", "overload"]);
    overload.shortage = undefined;
    expect((await fetch(front.url + path, { method: "POST", body })).status).toBe(200);
  });

  test("who is sent away is so at once, however often", async () => {
    await using front = await startFront(scriptedCore().transport, { overload: { shortage: "memory" } });
    for (let turn = 0; turn < 50; turn++) {
      await Promise.all(Array.from({ length: 20 }, async () => (await fetch(front.url + path)).arrayBuffer()));
    }
    expect(new Set(front.refused)).toEqual(new Set(["overload"]));
    expect(front.refused).toHaveLength(1000);
  });
});
