import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A profile as V8 writes it. Times in microseconds. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** A function and what it called. Times in microseconds. */
export interface Frame {
  readonly name: string;
  /** Where it stands: a file of ours, `node_modules/PACKAGE`, `node:MODULE`, or `native`. */
  readonly place: string;
  /** Spent in it and in what it called. */
  readonly total: number;
  /** Spent in itself. */
  readonly self: number;
  readonly children: readonly Frame[];
}

/** The profile of the main thread among those that a process left in a directory. Throws when there is none. */
export function readMainProfile(directory: string): CpuProfile {
  const names = readdirSync(directory).filter((name) => /\.0\.\d+\.cpuprofile$/.test(name));
  const [name, ...others] = names;
  if (name === undefined || others.length > 0) {
    throw new Error(`${names.length} profiles of main threads, not one`);
  }
  return JSON.parse(readFileSync(join(directory, name), "utf8"));
}

const bucket = 100_000;
const idle = "(idle)";

/**
 * What a process did during the last load before its end, idle time left out; a load is where it was busy
 * for a fifth of every tenth of a second.
 *
 * @param length microseconds of the load that count, from its end back
 */
export function lastLoad({ nodes, samples, timeDeltas }: CpuProfile, length: number): Frame {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const isBusy = (id: number | undefined) => byId.get(id ?? 0)?.callFrame.functionName !== idle;
  const buckets: number[] = [];
  let now = 0;
  for (const [at, delta] of timeDeltas.entries()) {
    now += delta;
    const slot = Math.ceil(now / bucket) - 1;
    if (isBusy(samples[at])) {
      buckets[slot] = (buckets[slot] ?? 0) + delta;
    }
  }
  const end = (buckets.findLastIndex((busy) => busy > bucket / 5) + 1) * bucket;
  const spent = new Map<number, number>();
  now = 0;
  for (const [at, delta] of timeDeltas.entries()) {
    now += delta;
    const id = samples[at] ?? 0;
    if (now > end - length && now <= end && isBusy(id)) {
      spent.set(id, (spent.get(id) ?? 0) + delta);
    }
  }
  const frame = (id: number): Frame => {
    const node = byId.get(id);
    const children = merge((node?.children ?? []).map(frame).filter(({ total }) => total > 0));
    const self = spent.get(id) ?? 0;
    const { functionName = "", url = "" } = node?.callFrame ?? {};
    const total = children.reduce((sum, child) => sum + child.total, self);
    return { name: functionName || "(anonymous)", place: placeOf(url), total, self, children };
  };
  return frame(nodes[0]?.id ?? 0);
}

/** One frame for a function that stands several times beside itself, for calls from several lines. */
function merge(frames: readonly Frame[]): Frame[] {
  const merged = new Map<string, Frame>();
  for (const frame of frames) {
    const key = `${frame.name} ${frame.place}`;
    const same = merged.get(key);
    if (same === undefined) {
      merged.set(key, frame);
    } else {
      const children = merge([...same.children, ...frame.children]);
      merged.set(key, { ...same, total: same.total + frame.total, self: same.self + frame.self, children });
    }
  }
  return [...merged.values()];
}

function placeOf(url: string): string {
  if (url.startsWith("node:internal/deps/undici")) {
    return "node:undici";
  }
  if (url.startsWith("node:")) {
    return url.replace("node:internal/", "node:");
  }
  const [, library] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
  if (library !== undefined) {
    return `node_modules/${library}`;
  }
  return /\/((?:src|facades|gen)\/.*)$/.exec(url)?.[1] ?? "native";
}

/** Time by part of the program, in itself only, largest first: folders of ours, packages, Node, the engine of the language. */
export function byPart(root: Frame): [part: string, time: number][] {
  const parts = new Map<string, number>();
  const add = ({ name, place, self, children }: Frame) => {
    if (self > 0) {
      parts.set(partOf(name, place), (parts.get(partOf(name, place)) ?? 0) + self);
    }
    children.forEach(add);
  };
  add(root);
  return [...parts].sort(([, a], [, b]) => b - a);
}

function partOf(name: string, place: string): string {
  if (name === "(garbage collector)") {
    return "garbage collector";
  }
  if (place === "native") {
    return "system calls and native code";
  }
  if (place.startsWith("node:")) {
    return place === "node:undici" ? "Headers of fetch" : "Node's library";
  }
  return place
    .split("/")
    .slice(0, place.startsWith("node_modules/@") ? 3 : 2)
    .join("/");
}
