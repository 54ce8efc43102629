import { parseAddress } from "#lib/net/address.ts";
import type { Config } from "../schema.ts";

type Listen = Config["listen"];

/** Each listener's distance from the first port. */
const offsets = { http: 0, console: 1, grpc: 2, connect: 3, admin: 4, webhooks: 5 } as const satisfies Partial<
  Record<keyof Listen, number>
>;

/** The usual address of the console of `serve`. */
const usualConsole = "127.0.0.1:8081";

/** The highest first port that leaves room for the other listeners. */
export const maxBasePort = 65_535 - Math.max(...Object.values(offsets));

/**
 * Moves every listener to its port, counted from the given one, and keeps its host. 0: the system chooses each. A port
 * of the public surfaces that other processes share stays.
 */
export function movePorts(listen: Listen, port: number): Listen {
  const moved = { ...listen };
  for (const [name, offset] of Object.entries(offsets) as [keyof typeof offsets, number][]) {
    const address = listen[name] ?? usualConsole;
    moved[name] = address.replace(/(?<!\d)\d+$/, String(port === 0 ? 0 : port + offset));
  }
  return listen.reuse_port ? { ...moved, http: listen.http } : moved;
}

/** The ports of every listener that is configured. */
export function listPorts(listen: Listen): number[] {
  const names = Object.keys(offsets) as (keyof typeof offsets)[];
  return names.flatMap((name) => parseAddress(listen[name] ?? "")?.port ?? []);
}

/**
 * The address of the console of `serve`. When the system chooses the public surfaces' port, it chooses the console's,
 * too.
 */
export function consoleAddress({ console, http }: Listen): string {
  return console ?? (parseAddress(http)?.port === 0 ? "127.0.0.1:0" : usualConsole);
}
