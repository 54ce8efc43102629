import { parseAddress } from "../../lib/net/address.ts";
import type { Config } from "./schema.ts";

type Listen = Config["listen"];

/** How far each listener's port is from the first. */
const offsets = { http: 0, console: 1, grpc: 2, connect: 3, admin: 4, webhooks: 5 } as const satisfies Partial<
  Record<keyof Listen, number>
>;

/** Where the console of `serve` listens unless it is told. */
const usualConsole = "127.0.0.1:8081";

/** The highest port that leaves room for the others. */
export const maxBasePort = 65_535 - Math.max(...Object.values(offsets));

/** Moves every listener to its place from the port on, on the host that it has; 0 lets the system choose each. */
export function movePorts(listen: Listen, port: number): Listen {
  const moved = { ...listen };
  for (const [name, offset] of Object.entries(offsets) as [keyof typeof offsets, number][]) {
    const address = listen[name] ?? usualConsole;
    moved[name] = address.replace(/\d+$/, String(port === 0 ? 0 : port + offset));
  }
  return moved;
}

/** The ports of every listener that is configured. */
export function listPorts(listen: Listen): number[] {
  const names = Object.keys(offsets) as (keyof typeof offsets)[];
  return names.flatMap((name) => parseAddress(listen[name] ?? "")?.port ?? []);
}

/** Where the console of `serve` listens: where the system chooses the public surfaces' port, it chooses the console's, too. */
export function consoleAddress({ console, http }: Listen): string {
  return console ?? (parseAddress(http)?.port === 0 ? "127.0.0.1:0" : usualConsole);
}
