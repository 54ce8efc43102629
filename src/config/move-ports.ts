import { parseAddress } from "../../lib/net/address.ts";
import type { Config } from "./schema.ts";

type Listen = Config["listen"];

/** How far each listener's port is from the first; the one after `http` is the console's. */
const offsets = { http: 0, grpc: 2, connect: 3, admin: 4, webhooks: 5 } as const satisfies Partial<
  Record<keyof Listen, number>
>;

/** The highest port that leaves room for the others. */
export const maxBasePort = 65_535 - Math.max(...Object.values(offsets));

/** Moves every listener to its place from the port on, on the host that it has; 0 lets the system choose each. */
export function movePorts(listen: Listen, port: number): Listen {
  const moved = { ...listen };
  for (const [name, offset] of Object.entries(offsets) as [keyof typeof offsets, number][]) {
    moved[name] = listen[name].replace(/\d+$/, String(port === 0 ? 0 : port + offset));
  }
  return moved;
}

/** The ports of every listener. */
export function portsOf(listen: Listen): number[] {
  const names = Object.keys(offsets) as (keyof typeof offsets)[];
  return names.map((name) => parseAddress(listen[name])?.port ?? 0);
}
