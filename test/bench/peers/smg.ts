import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePorts } from "../measure/processes.ts";
import { usualPaths } from "../systems/interface.ts";
import { pip } from "./cache.ts";
import type { Peer } from "./interface.ts";
import { serve } from "./serve.ts";

/** Where each model is: to it a server has one model, so the engine is one server under each of its names. */
const servers = [
  { host: "127.0.0.1", model: "eager" },
  { host: "localhost", model: "paced" },
];

/** A router in Rust; it passes messages through as they are. */
export const smg: Peer = {
  name: "smg",
  version: "1.13.0",
  does: "chooses a server; no keys, no money",
  install: (folder) => pip(folder, "smg==1.13.0"),
  async start(folder, surroundings) {
    const [port = 0, metrics = 0] = await freePorts(2);
    const command = [
      join(folder, "venv/bin/smg"),
      ...["launch", "--log-level", "warn"],
      ...["--host", "127.0.0.1", "--port", String(port)],
      ...["--prometheus-host", "127.0.0.1", "--prometheus-port", String(metrics)],
    ];
    const running = await serve(surroundings, { command, port, ready: "/liveness", paths: usualPaths });
    const origin = `http://127.0.0.1:${port}`;
    for (const { host, model } of servers) {
      const server = { url: `http://${host}:${surroundings.enginePort}`, models: [{ id: model }] };
      const headers = { "content-type": "application/json" };
      await fetch(`${origin}/workers`, { method: "POST", headers, body: JSON.stringify(server) });
    }
    for (let tries = 0; !(await servesAll(origin)); tries++) {
      if (tries > 100) {
        await running.stop();
        throw new Error("smg does not take the engine's models");
      }
      await sleep(100);
    }
    return running;
  },
};

async function servesAll(origin: string): Promise<boolean> {
  const listed = await (await fetch(`${origin}/v1/models`)).text();
  return servers.every(({ model }) => listed.includes(`"${model}"`));
}
