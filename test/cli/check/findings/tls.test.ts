import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { checkTls } from "#src/cli/check/findings/tls.ts";
import { createAuthority, writeIdentity } from "../../../support/certificates.ts";

const dayMs = 86_400_000;
const authority = createAuthority();
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tollgate-tls-"));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

test.each<[string, number, number, string, RegExp]>([
  ["good for long", -1, 90, "ok", /is valid until \d{4}-\d\d-\d\d$/],
  ["good for days", -1, 3, "warning", /is valid until .*: renew it$/],
  ["expired", -9, -1.5, "wrong", /expired on .*: renew it$/],
  ["not valid yet", 1, 9, "wrong", /not valid yet/],
])("a certificate that is %s", async (_, from, to, status, message) => {
  const valid = { from: new Date(Date.now() + from * dayMs), to: new Date(Date.now() + to * dayMs) };
  const files = await writeIdentity(folder, "server", authority.issue("server", valid));
  expect(await checkTls(files)).toEqual([{ part: "listen.tls", status, message: expect.stringMatching(message) }]);
});

test("files that are not there, and no TLS at all", async () => {
  const found = await checkTls({ cert: "/no.crt", key: "/no.key" });
  expect(found).toEqual([{ part: "listen.tls", status: "wrong", message: expect.stringContaining("ENOENT") }]);
  expect(await checkTls(undefined)).toEqual([]);
});
