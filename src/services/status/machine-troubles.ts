import { X509Certificate } from "node:crypto";
import { readFile, statfs } from "node:fs/promises";
import { dayMs } from "#lib/time/days.ts";
import type { Trouble } from "./trouble.ts";

export interface Machine {
  /** Where the journal is, and SQLite's files. */
  readonly dataDir: string;
  /** The file of the listeners' certificate. Undefined: they have none. */
  readonly certificate: string | undefined;
}

/** The part of a directory's disk that is free, 0 to 1. */
async function readFree(directory: string): Promise<number> {
  const { bavail, blocks } = await statfs(directory);
  return blocks === 0 ? 1 : bavail / blocks;
}

/** A disk with a smaller part free is about to be full. */
const leastFree = 0.05;
/** Certificates are renewed weeks before they end. */
const renewalMs = 7 * dayMs;

/** What is about to end on this core's machine: room on its disk, and its certificate. What cannot be read tells nothing. */
export async function findMachineTroubles(
  { dataDir, certificate }: Machine,
  now: number,
  free: (directory: string) => Promise<number> = readFree,
): Promise<Trouble[]> {
  const found = await Promise.all([
    judgeDisk(dataDir, free).catch(() => undefined),
    certificate === undefined ? undefined : judgeCertificate(certificate, now).catch(() => undefined),
  ]);
  return found.filter((trouble) => trouble !== undefined);
}

async function judgeDisk(directory: string, free: typeof readFree): Promise<Trouble | undefined> {
  const part = await free(directory);
  return part < leastFree
    ? { what: "disk_full", reason: `The disk of ${directory} has ${Math.floor(part * 100)} % left.` }
    : undefined;
}

async function judgeCertificate(file: string, now: number): Promise<Trouble | undefined> {
  const { validToDate: end } = new X509Certificate(await readFile(file));
  const left = end.getTime() - now;
  const verb = left > 0 ? "ends" : "ended";
  return left < renewalMs
    ? { what: "certificate_ends", reason: `The certificate ${file} ${verb} on ${end.toISOString().slice(0, 10)}.` }
    : undefined;
}
