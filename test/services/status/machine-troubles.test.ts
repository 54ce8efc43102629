import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { findMachineTroubles } from "#src/services/status/machine-troubles.ts";
import { createAuthority, writeIdentity } from "../../support/certificates.ts";

const end = new Date("2026-03-09T00:00:00Z");
const dayMs = 86_400_000;

let folder: string;
let certificate: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tollgate-machine-"));
  const identity = createAuthority().issue("own", { from: new Date("2026-01-01T00:00:00Z"), to: end });
  certificate = (await writeIdentity(folder, "own", identity)).cert;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const findAt = (now: number, free = 0.5) =>
  findMachineTroubles({ dataDir: folder, certificate }, now, async () => free);

test("a certificate is told a week before it ends, and when it has ended", async () => {
  expect(await findAt(+end - 8 * dayMs)).toEqual([]);
  const what = "certificate_ends";
  expect(await findAt(+end - 6 * dayMs)).toEqual([
    { what, reason: `The certificate ${certificate} ends on 2026-03-09.` },
  ]);
  expect(await findAt(+end + 1)).toEqual([{ what, reason: `The certificate ${certificate} ended on 2026-03-09.` }]);
});

test("a disk is told when less than a twentieth of it is free", async () => {
  const early = +end - 30 * dayMs;
  expect(await findAt(early, 0.05)).toEqual([]);
  expect(await findAt(early, 0.049)).toEqual([{ what: "disk_full", reason: `The disk of ${folder} has 4 % left.` }]);
});

test("what cannot be read tells nothing", async () => {
  const none = join(folder, "none");
  expect(await findMachineTroubles({ dataDir: none, certificate: none }, 0)).toEqual([]);
  expect(await findMachineTroubles({ dataDir: folder, certificate: undefined }, 0, async () => 1)).toEqual([]);
});
