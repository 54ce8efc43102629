import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { systemRandom } from "#lib/ids/random.ts";
import { parseConfig, parseConfigFile } from "#src/config/load.ts";
import { readOperatorToken, readSecrets } from "#src/config/secrets/secrets.ts";

const token = "operator-token-of-the-test-0123456789";
const pepper = "pepper-of-the-test-0123456789-0123456789";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tollgate-"));
});
afterEach(() => rm(folder, { recursive: true }));

const read = (environment: Record<string, string>, yaml = "") => {
  const { config, placeOf } = parseConfigFile(yaml, "t.yaml");
  return readSecrets(config, environment, systemRandom, placeOf);
};

test("an embedded service makes its secrets once, readable by its user alone", async () => {
  const dataDir = join(folder, "deep", "data");
  const first = await read({ TOLLGATE_DATA_DIR: dataDir });
  expect(first).toMatchObject({
    dataDir,
    storageUrl: `sqlite:${join(dataDir, "tollgate.db")}`,
    rateLimitUrl: "memory:",
  });
  // Of this shape it is not taken for a guess where wrong credentials came from its address.
  expect(first.operatorToken).toMatch(/^tgop_[0-9A-Za-z]{49}$/);
  expect(await read({ TOLLGATE_DATA_DIR: dataDir })).toEqual(first);
  for (const name of ["operator-token", "key-pepper"]) {
    expect((await stat(join(dataDir, name))).mode & 0o777).toBe(0o600);
  }
  expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
  expect(await readOperatorToken({ TOLLGATE_DATA_DIR: dataDir })).toBe(first.operatorToken);
});

test.each([
  ["is a file", "taken"],
  ["is below a file", "taken/below"],
])("a data directory that %s is told, and what to do", async (_, name) => {
  await writeFile(join(folder, "taken"), "");
  await expect(read({ TOLLGATE_DATA_DIR: join(folder, name) })).rejects.toThrow(
    /taken.*: a file is where a directory has to be: move that away, or set TOLLGATE_DATA_DIR$/,
  );
});

test("services that start together agree on the secrets", async () => {
  const all = await Promise.all(Array.from({ length: 10 }, () => read({ TOLLGATE_DATA_DIR: folder })));
  expect(new Set(all.map((secrets) => secrets.operatorToken)).size).toBe(1);
  expect((await readFile(join(folder, "operator-token"), "utf8")).trim()).toBe(all[0]?.operatorToken);
});

test("the environment wins over the file", async () => {
  const secrets = await read(
    {
      TOLLGATE_DATA_DIR: folder,
      TOLLGATE_OPERATOR_TOKEN: token,
      TOLLGATE_KEY_PEPPER: pepper,
      TOLLGATE_STORAGE_URL: "sqlite:elsewhere.db",
      TOLLGATE_RATE_LIMIT_URL: "redis://limits",
    },
    "storage: { url: sqlite:configured.db }",
  );
  expect(secrets).toMatchObject({
    operatorToken: token,
    peppers: [{ version: 1, secret: pepper }],
    storageUrl: "sqlite:elsewhere.db",
    rateLimitUrl: "redis://limits",
  });
});

test("storage.url wins over the default that TOLLGATE_DATA_DIR moves", async () => {
  expect(await read({ TOLLGATE_DATA_DIR: folder }, "storage: { url: sqlite:mine.db }")).toMatchObject({
    storageUrl: "sqlite:mine.db",
  });
});

test("each setting can come from a file", async () => {
  const file = join(folder, "token");
  await writeFile(file, `${token}\n`);
  const environment = { TOLLGATE_DATA_DIR: folder, TOLLGATE_OPERATOR_TOKEN_FILE: file };
  expect(await read(environment)).toMatchObject({ operatorToken: token });
  expect(await readOperatorToken(environment)).toBe(token);
  await expect(read({ ...environment, TOLLGATE_OPERATOR_TOKEN: "x" })).rejects.toThrow("both set");
  await expect(read({ TOLLGATE_OPERATOR_TOKEN_FILE: join(folder, "none") })).rejects.toThrow("ENOENT");
  await expect(read({ TOLLGATE_OPERATOR_TOKEN: "" })).rejects.toThrow("TOLLGATE_OPERATOR_TOKEN is empty");
});

test.each(["a", "changeme", "replace-me", "replace-me-replace-me", "x".repeat(64), "0123456789abcdef0123456789abcde"])(
  "a secret that can be guessed ends the start: %s",
  async (guessed) => {
    const strong = { TOLLGATE_DATA_DIR: folder, TOLLGATE_OPERATOR_TOKEN: token, TOLLGATE_KEY_PEPPER: pepper };
    await expect(read({ ...strong, TOLLGATE_OPERATOR_TOKEN: guessed })).rejects.toThrow(
      "TOLLGATE_OPERATOR_TOKEN needs 32 characters or more that nobody can guess: openssl rand -hex 32",
    );
    await expect(read({ ...strong, TOLLGATE_KEY_PEPPER: guessed })).rejects.toThrow("TOLLGATE_KEY_PEPPER needs");
    await expect(read(strong)).resolves.toMatchObject({ operatorToken: token });
  },
);

test("cores that share a database have to be given their secrets", async () => {
  const shared = { TOLLGATE_STORAGE_URL: "postgresql://db" };
  await expect(read(shared)).rejects.toThrow(
    /TOLLGATE_OPERATOR_TOKEN or TOLLGATE_OPERATOR_TOKEN_FILE must be set.*\n.*TOLLGATE_KEY_PEPPER or/,
  );
  await expect(read({ ...shared, TOLLGATE_OPERATOR_TOKEN: "x" })).rejects.toThrow("TOLLGATE_KEY_PEPPER");
});

test("a new pepper stands before the old ones", async () => {
  const peppers = async (text: string) =>
    (await read({ TOLLGATE_DATA_DIR: folder, TOLLGATE_KEY_PEPPER: text })).peppers;
  expect(await peppers(`2:${pepper},1:old`)).toEqual([
    { version: 2, secret: pepper },
    { version: 1, secret: "old" },
  ]);
  const plain = "plain, with a comma, and not to be guessed";
  expect(await peppers(plain)).toEqual([{ version: 1, secret: plain }]);
});

test("service tokens come from files and variables", async () => {
  const file = join(folder, "billing");
  const [billing, batch] = ["billing-0123456789abcdef01234567", "batch-0123456789abcdef0123456789"];
  await writeFile(file, billing);
  const yaml = `services: [{ name: billing, token_file: "${file}", accounts: [a] }, { name: batch, token_env: BATCH }]`;
  const environment = { TOLLGATE_DATA_DIR: folder };
  expect((await read({ ...environment, BATCH: batch }, yaml)).services).toEqual([
    { name: "billing", token: billing, accounts: ["a"] },
    { name: "batch", token: batch },
  ]);
  await expect(read(environment, yaml)).rejects.toThrow("t.yaml:1: services[1].token_env: BATCH holds no secret");
  await expect(read({ ...environment, BATCH: "batch-token" }, yaml)).rejects.toThrow(
    "t.yaml:1: services[1].token_env: BATCH needs 32 characters or more that nobody can guess",
  );
  await writeFile(file, "changeme");
  await expect(read({ ...environment, BATCH: batch }, yaml)).rejects.toThrow(
    /^t.yaml:1: services\[0\].token_file: .*billing needs 32/,
  );
});

test.each([
  [
    ["payments:", "  stripe:", "    secret_key_env: NOPE"],
    "t.yaml:3: payments.stripe.secret_key_env: NOPE holds no secret",
  ],
  [
    ["payments: { stripe: { secret_key_env: KEY,", "  webhook_secret_file: none } }"],
    "t.yaml:2: payments.stripe.webhook_secret_file: none cannot be read: ENOENT",
  ],
  [
    [
      "sign_in:",
      "  oidc:",
      "    - { issuer: https://a.example, client_id: a }",
      "    - issuer: https://b.example",
      "      id: b",
      "      client_id: b",
      "      client_secret_env: NOPE",
    ],
    "t.yaml:7: sign_in.oidc[1].client_secret_env: NOPE holds no secret",
  ],
  [
    ["sign_in:", "  oidc:", "    issuer: https://a.example", "    client_id: a", "    client_secret_env: NOPE"],
    "t.yaml:5: sign_in.oidc.client_secret_env: NOPE holds no secret",
  ],
  [
    ["mail:", "  from: a@example.com", "  smtp:", "    url_env: NOPE"],
    "t.yaml:4: mail.smtp.url_env: NOPE holds no secret",
  ],
  [
    ["mail: { from: a@example.com,", "  smtp: { url_env: KEY } }"],
    "t.yaml:2: mail.smtp.url_env: KEY holds no URL such as",
  ],
  [
    ["receipts:", "  archive_s3: { url: s3://archives, access_key_id: a,", "    secret_access_key_env: NOPE }"],
    "t.yaml:3: receipts.archive_s3.secret_access_key_env: NOPE holds no secret",
  ],
])("a secret that is not where the configuration says is told with its place: %j", async (lines, message) => {
  const environment = { TOLLGATE_DATA_DIR: folder, KEY: "sk_test_any" };
  await expect(read(environment, lines.join("\n"))).rejects.toThrow(message);
});

test("a missing operator token says where it was looked for", async () => {
  await expect(readOperatorToken({ TOLLGATE_DATA_DIR: folder })).rejects.toThrow(join(folder, "operator-token"));
});

test("a schema becomes a setting of the sessions, beside those that the address has", async () => {
  const read = async (url: string) => {
    const environment = { TOLLGATE_STORAGE_URL: url, TOLLGATE_OPERATOR_TOKEN: token, TOLLGATE_KEY_PEPPER: pepper };
    const { storageUrl } = await readSecrets(
      parseConfig("storage: { schema: one }", "t.yaml"),
      { ...environment, TOLLGATE_DATA_DIR: folder },
      systemRandom,
    );
    return storageUrl;
  };
  expect(await read("postgresql://u:p@h/db")).toBe("postgresql://u:p@h/db?options=-c%20search_path%3Done");
  expect(await read("postgresql://u:p@h/db?sslmode=require&options=-c%20jit%3Doff")).toBe(
    "postgresql://u:p@h/db?sslmode=require&options=-c%20jit%3Doff%20-c%20search_path%3Done",
  );
  await expect(read("sqlite:tollgate.db")).rejects.toThrow("storage.schema: only PostgreSQL has schemas");
});

test("a secret that others may write is refused, one that everybody may read is named", async () => {
  const file = join(folder, "token");
  await writeFile(file, token);
  const environment = { TOLLGATE_DATA_DIR: folder, TOLLGATE_OPERATOR_TOKEN_FILE: file };
  for (const [mode, exposed] of [
    [0o600, []],
    [0o640, []],
    [0o644, [file]],
  ] as const) {
    await chmod(file, mode);
    expect((await read(environment)).exposedFiles).toEqual(exposed);
  }
  const yaml = `payments: { stripe: { secret_key_file: ${file}, webhook_secret_file: ${file} } }`;
  expect((await read({ TOLLGATE_DATA_DIR: folder }, yaml)).exposedFiles).toEqual([file]);
  for (const mode of [0o620, 0o602]) {
    await chmod(file, mode);
    await expect(read(environment)).rejects.toThrow("may be written by other users: chmod go-w");
  }
  await chmod(join(folder, "key-pepper"), 0o666);
  await expect(read({ TOLLGATE_DATA_DIR: folder })).rejects.toThrow("key-pepper may be written by other users");
});
