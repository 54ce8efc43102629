import type { Cell } from "../measure/cell.ts";
import { longPrompt, shortPrompt } from "../measure/cell.ts";
import { run } from "../run.ts";
import type { Scenario } from "../scenario.ts";
import type { System } from "../systems/interface.ts";
import { installed } from "./cache.ts";
import { goProxy } from "./go-proxy/go-proxy.ts";
import type { Peer } from "./interface.ts";
import { litellm } from "./litellm.ts";
import { oneApi } from "./one-api.ts";
import { portkey } from "./portkey.ts";
import { smg } from "./smg.ts";

const known: readonly Peer[] = [goProxy, smg, portkey, oneApi, litellm];

const chat = { scenario: "peers", surface: "chat", model: "eager", prompt: shortPrompt, concurrency: 16 } as const;
const plain: Cell = { ...chat, stream: false, size: 10 };
const stream: Cell = { ...chat, stream: true, size: 200 };
const quick: readonly Cell[] = [plain, stream];
const cells: readonly Cell[] = [
  plain,
  { ...plain, concurrency: 1 },
  { ...plain, prompt: longPrompt },
  stream,
  { ...stream, model: "paced", concurrency: 64, size: 10 },
  { ...plain, surface: "messages" },
  { ...stream, surface: "messages" },
];

/** Other gateways under the same loads, each installed in a cache of its own; one that the machine lacks is left out. */
export const peers: Scenario = {
  name: "peers",
  shows: "other gateways beside it, which it installs",
  onlyNamed: true,
  async run(bench) {
    const { options, progress } = bench;
    const systems: System[] = [...bench.systems(["pass-through", "tollgate"])];
    const notes: string[] = [];
    for (const peer of known) {
      if (options.systems.length > 0 && !options.systems.includes(peer.name)) {
        continue;
      }
      try {
        progress(`installing ${peer.name} ${peer.version}, if it is not there yet`);
        systems.push(asSystem(peer, await installed(peer)));
        notes.push(`${peer.name} ${peer.version}: ${peer.does}`);
      } catch (error) {
        notes.push(`${peer.name} ${peer.version}: left out: ${error instanceof Error ? error.message : error}`);
      }
    }
    return { results: await run(options.quick ? quick : cells, systems, bench), notes };
  },
};

function asSystem(peer: Peer, folder: string): System {
  return { name: peer.name, foreign: true, start: (surroundings) => peer.start(folder, surroundings) };
}
