import { chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { type PostgresqlServer, startPostgresql } from "../../scripts/test-services/postgres-server.ts";
import { createAuthority, writeIdentity } from "../support/certificates.ts";

let server: PostgresqlServer;
let url: string;
let folder: string;
beforeAll(async () => {
  server = await startPostgresql();
  url = await server.createDatabase();
  folder = mkdtempSync(join(tmpdir(), "tollgate-storage-tls-"));
}, 60_000);
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

/** Runs a statement over a connection as the URL's parameters want it. */
async function ask(parameters: string, sql: string): Promise<unknown> {
  const storage = await openStorage(`${url}?${parameters}`);
  if (storage.dialect !== "postgresql") {
    throw new Error("this is not PostgreSQL");
  }
  try {
    return (await storage.pool.query(sql)).rows[0];
  } finally {
    await storage.close();
  }
}

const encrypted = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";

test("a URL's parameters reach the server", async () => {
  const asked = ask("application_name=tollgate-core-1", "select current_setting('application_name') as name");
  expect(await asked).toEqual({ name: "tollgate-core-1" });
});

test("a URL that wants TLS gets it, with a certificate that the authority signed, or nothing", async () => {
  await expect(ask("sslmode=verify-full", encrypted)).rejects.toThrow("does not support SSL");

  const authority = createAuthority();
  const { cert, key } = await writeIdentity(folder, "server", authority.issue("localhost"));
  const ca = join(folder, "ca.crt");
  writeFileSync(ca, authority.ca);
  const storage = await openStorage(url);
  if (storage.dialect !== "postgresql") {
    throw new Error("this is not PostgreSQL");
  }
  const { pool } = storage;
  const { rows } = await pool.query("show data_directory");
  const { uid, gid } = statSync(String(rows[0].data_directory));
  for (const file of [folder, cert, key]) {
    chownSync(file, uid, gid); // PostgreSQL reads no key of another user
  }
  await pool.query(`alter system set ssl_cert_file = '${cert}'`);
  await pool.query(`alter system set ssl_key_file = '${key}'`);
  await pool.query("alter system set ssl = on");
  await pool.query("select pg_reload_conf()");
  await storage.close();

  await expect(ask("sslmode=verify-full", encrypted)).rejects.toThrow(/certificate/);
  expect(await ask(`sslmode=verify-full&sslrootcert=${ca}`, encrypted)).toEqual({ ssl: true });
}, 60_000);
