import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type PeerCertificate } from "node:tls";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { Registry } from "prom-client";
import { Door } from "#lib/door/door.ts";
import { startHttpServer } from "#lib/door/http-server.ts";
import { openTls, readTls, type TlsFiles } from "#src/config/tls/tls.ts";
import { startAdminServer } from "#src/telemetry/admin-server.ts";
import { startConnectServer } from "#src/wire/grpc/server/http/connect-server.ts";
import { startGrpcServer } from "#src/wire/grpc/server/server.ts";
import { createAuthority, writeIdentity } from "../../support/certificates.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { eventually } from "../../support/eventually.ts";

const authority = createAuthority();
let folder: string;
let files: TlsFiles;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tollgate-tls-"));
  files = await writeIdentity(folder, "server", authority.issue("first"));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

test.each<[string, (files: TlsFiles) => Promise<TlsFiles>, RegExp]>([
  [
    "a certificate that is not there",
    async (f) => ({ ...f, cert: "/no.crt" }),
    /^listen\.tls\.cert: \/no\.crt .*ENOENT/,
  ],
  [
    "an authority that is not there",
    async (f) => ({ ...f, client_ca: "/no.crt" }),
    /^listen\.tls\.client_ca: .*ENOENT/,
  ],
  [
    "a key of another certificate",
    async (f) => ({ ...f, key: (await writeIdentity(folder, "other", authority.issue("other"))).key }),
    /^listen\.tls: .*server\.crt and .*other\.key cannot be used together: .*mismatch/,
  ],
  ["a key that is none", async (f) => ({ ...f, key: f.cert }), /cannot be used together/],
])("refuses %s", async (_, change, message) => {
  await expect(readTls(await change(files))).rejects.toThrow(message);
});

test("every server shows a renewed certificate without a restart; one that is wrong is logged and left", async () => {
  const clock = new ManualClock();
  const told: string[] = [];
  const tell = (_: object, message: string) => void told.push(message);
  const tls = await openTls(files, clock, { debug: tell, info: tell, warn: tell, error: tell });
  const common = { address: "127.0.0.1:0", services: [], interceptors: [], tls };
  const [grpc, connect, http, admin] = await Promise.all([
    startGrpcServer(common),
    startConnectServer(common),
    startHttpServer((_, response) => response.end(), "127.0.0.1:0", {
      ...{ tls, door: new Door({ listener: "public" }), setting: "listen.http" },
    }),
    startAdminServer("127.0.0.1:0", new Registry(), { ready: true }, tls),
  ]);
  const shown = () => Promise.all([grpc, connect, http, admin].map(({ address }) => nameShownAt(address)));
  try {
    expect(await shown()).toEqual(Array(4).fill("first"));
    await writeFile(files.cert, "half a certifi");
    clock.advance(60_000);
    await eventually("the broken file is told of", () => told.length === 1);
    expect(await shown()).toEqual(Array(4).fill("first"));
    await writeIdentity(folder, "server", authority.issue("second"));
    clock.advance(60_000);
    await eventually("the certificate is renewed", () => told.length === 2);
    expect(await shown()).toEqual(Array(4).fill("second"));
    expect(told).toEqual([expect.stringContaining("cannot be used"), "certificate renewed"]);
  } finally {
    await Promise.all([grpc.stop(0), connect.stop(0), http.close(0), admin.close()]);
  }
});

async function nameShownAt(address: string): Promise<string> {
  const { hostname: host, port } = new URL(`https://${address}`);
  const certificate = await new Promise<PeerCertificate>((resolve, reject) => {
    const socket = connect({ host, port: Number(port), ca: authority.ca, ALPNProtocols: ["h2", "http/1.1"] }, () => {
      resolve(socket.getPeerCertificate());
      socket.destroy();
    });
    socket.once("error", reject);
  });
  return String(certificate.subject.CN);
}
