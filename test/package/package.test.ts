import { execFile, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { noticesFile } from "../../scripts/package/bundle.ts";
import { packTo } from "../../scripts/package/pack.ts";
import { pasteHints } from "../../scripts/package/paste-hints.ts";
import { type Running, tryInstalled } from "../../scripts/package/try-installed.ts";
import { linkProductionPackages } from "../support/production-packages.ts";

// What `npm pack` makes, unpacked beside the packages of the lock file, which a registry would bring. `npm run test:package`
// installs it from the registry and tries every Node.js.

jest.setTimeout(180_000);

const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);
let folder: string;
let installed: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tollgate-package-"));
  const tarball = packTo(root, folder);
  installed = join(folder, "node_modules", "tollgate");
  await mkdir(installed, { recursive: true });
  await run("tar", ["-xzf", tarball, "--strip-components=1", "-C", installed]);
  await linkProductionPackages(root, folder, ["@connectrpc/connect-node"]); // with what a program of its own adds
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("from an empty folder it serves, bills, keeps its data in the home, proves its books, and all that it prints works", async () => {
  const trial = await mkdtemp(join(folder, "trial-"));
  const { readyMs } = await tryInstalled(
    [process.execPath, join(installed, "bin", "tollgate.js")],
    trial,
    async (service) => {
      await pasteHints(service.output, `${dirname(process.execPath)}:${process.env.PATH}`);
      await runDocumentedClient(service);
    },
  );
  expect(readyMs).toHaveLength(2);
});

/** Runs the TypeScript client of the docs against a service, as a program beside the installed package. */
async function runDocumentedClient({ grpcUrl, operatorToken }: Running): Promise<void> {
  const page = await readFile(join(root, "docs", "grpc.md"), "utf8");
  const [, example = ""] = /```ts\n(.*?)```/s.exec(page) ?? [];
  expect(example).toContain('from "tollgate/client"');
  const file = join(folder, "client.mts");
  await writeFile(file, example.replace("http://127.0.0.1:50051", grpcUrl));
  const tsc = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2024", "--types", "node", "--typeRoots"];
  await run(join(root, "node_modules", ".bin", "tsc"), [...tsc, join(root, "node_modules", "@types"), file], {
    cwd: folder,
  });
  const env = { ...process.env, TOLLGATE_OPERATOR_TOKEN: operatorToken };
  const { stdout } = await run(process.execPath, [file], { cwd: folder, env });
  expect(stdout).toMatch(/name: 'demo'/);
}

test("it has all that the program reads, and nothing of the work on it", async () => {
  const paths = await readdir(installed, { recursive: true });
  expect(paths).toEqual(
    expect.arrayContaining([
      "LICENSE",
      "README.md",
      "CHANGELOG.md",
      "gen/openapi.json",
      "console/dist/index.html",
      "dist/src/main.js",
    ]),
  );
  expect(paths.filter((path) => /\.ts$/.test(path) && !path.endsWith(".d.ts"))).toEqual([]);
  expect(paths.filter((path) => /^(test|scripts|src|docs|deploy|data)\b/.test(path))).toEqual([]);
  const { private: isPrivate, dependencies } = JSON.parse(await readFile(join(installed, "package.json"), "utf8"));
  // The typed clients share them with the program that imports them; all others are inside.
  expect([isPrivate, Object.keys(dependencies)]).toEqual([undefined, ["@bufbuild/protobuf", "@connectrpc/connect"]]);
});

test("an older Node.js is told in one sentence which one is needed", () => {
  const pretendOld = `data:text/javascript,Object.defineProperty(process.versions,"node",{value:"22.23.2"})`;
  const launcher = join(installed, "bin", "tollgate.js");
  const { status, stderr } = spawnSync(process.execPath, ["--import", pretendOld, launcher], { encoding: "utf8" });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^tollgate: Node\.js 22\.23\.3 or newer is needed, and this is \S+: see \S+\n$/);
});

test("what it needs at least is what package.json says", async () => {
  const { engines } = JSON.parse(await readFile(join(installed, "package.json"), "utf8"));
  const launcher = await readFile(join(installed, "bin", "tollgate.js"), "utf8");
  const [, oldest = ""] = /\[24, 0, 0\] : \[([\d, ]+)\]/.exec(launcher) ?? [];
  expect(engines).toEqual({ node: `>=${oldest.replaceAll(", ", ".")}` });
});

test("another program imports a typed client of every service, and finds the contract", async () => {
  const paths = (await readdir(join(installed, "gen"), { recursive: true })).filter((path) =>
    path.startsWith("tollgate/"),
  );
  const surfaces = ["chat", "keys", "messages"]; // served over HTTP alone
  const services = paths.flatMap((path) => /(\w+)_service_pb\.js$/.exec(path)?.[1] ?? []);
  const script = `
    import { createConnectTransport } from "@connectrpc/connect-node";
    import { createTollgateClients, Role } from "tollgate/client";
    const clients = createTollgateClients(createConnectTransport({ baseUrl: "http://127.0.0.1:1", httpVersion: "1.1" }));
    console.log(JSON.stringify([Object.keys(clients), typeof clients.accounts.createKey, Role.USER,
      import.meta.resolve("tollgate/proto/tollgate/accounts/v1/accounts_service.proto")]));`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", script], { cwd: folder });
  const [names, createKey, user, proto] = JSON.parse(stdout);
  expect(names).toEqual(services.filter((name) => !surfaces.includes(name)).toSorted());
  expect([createKey, user]).toEqual(["function", 2]);
  expect(await readFile(fileURLToPath(proto), "utf8")).toContain("service AccountsService");
});

test("the licences of the packages inside it come along", async () => {
  const notices = await readFile(join(installed, "dist", noticesFile), "utf8");
  for (const name of ["@bufbuild/protobuf", "@grpc/grpc-js", "@mikro-orm/core", "koa", "pg"]) {
    expect(notices).toMatch(new RegExp(`^${name} \\d+\\.\\S+: \\(?(MIT|Apache-2\\.0)`, "m"));
  }
});
