import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { programVariable } from "../../scripts/test-services/program-variable.ts";
import { parseCommand, readDeploy, root } from "./files.ts";

// No container engine runs here: what the file copies is put together in a folder, and started from there.

const instructions = (await readDeploy("Containerfile"))
  .split("\n")
  .filter((line) => /^[A-Z]/.test(line))
  .map((line) => ({ name: line.split(" ")[0], rest: line.slice(line.indexOf(" ") + 1) }));
const all = (name: string) => instructions.filter((one) => one.name === name).map(({ rest }) => rest);
const copied = all("COPY")
  .filter((rest) => !rest.startsWith("--from"))
  .map((rest) => rest.split(" ").slice(0, -1));

test("holds what was built before, and runs as a user without rights", () => {
  expect(all("FROM")).toHaveLength(1);
  expect(all("USER")).toEqual(["node"]);
  expect(all("VOLUME")).toEqual([/TOLLGATE_DATA_DIR=(\S+)/.exec(all("ENV").join(" "))?.[1]]);
  expect(all("RUN").filter((rest) => rest.includes("npm"))).toEqual([]);
});

test("everything that it copies is sent to the builder, and nothing else", async () => {
  const allowed = (await readDeploy("Containerfile.dockerignore")).trim().split("\n");
  expect(allowed[0]).toBe("*");
  const needed = new Set(copied.flat().map((path) => path.replace("./", "")));
  expect(allowed.slice(1).toSorted()).toEqual([...needed].map((path) => `!${path}`).toSorted());
});

test("its command exists", async () => {
  const entry = JSON.parse(all("ENTRYPOINT")[0] ?? "") as string[];
  const command = JSON.parse(all("CMD")[0] ?? "") as string[];
  expect(entry).toEqual(["node", "bin/tollgate.js"]);
  expect(await parseCommand(command)).toMatchObject({ command: "serve" });
});

/** Where a file or folder to copy is: the program is that which was bundled for this run, since others bundle it meanwhile. */
function sourceOf(path: string): string {
  const program = process.env[programVariable];
  return path === "./dist" || path === "dist"
    ? join(program === undefined ? root : dirname(dirname(program)), "dist")
    : join(root, path);
}

test("the program starts from what is copied alone, and is healthy", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-image-"));
  try {
    for (const path of copied.flat()) {
      await cp(sourceOf(path), join(folder, path), { recursive: true });
    }
    const config = join(folder, "tollgate.yaml");
    const addresses = ["http", "grpc", "connect", "admin"].map((name) => `${name}: 127.0.0.1:0`).join(", ");
    await writeFile(config, `listen: { ${addresses} }\n`);
    const child = spawn(process.execPath, ["bin/tollgate.js", "serve", "--config", config, "--log", "json"], {
      cwd: folder,
      env: { PATH: process.env.PATH, NODE_ENV: "production", TOLLGATE_DATA_DIR: join(folder, "data") },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exited = once(child, "exit");
    let admin: string | undefined;
    for await (const line of createInterface(child.stdout)) {
      const entry = JSON.parse(line) as { msg: string; admin?: string };
      if (entry.msg === "tollgate ready") {
        admin = entry.admin;
      }
      if (admin !== undefined) {
        break;
      }
    }
    const health = await checkHealth(`http://${admin}/readyz`, folder);
    child.kill("SIGTERM");
    expect([health, (await exited)[0]]).toEqual([0, 0]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}, 60_000);

test("a process that does not want traffic is not healthy, nor is one that is gone", async () => {
  const server = createServer((_, response) => response.writeHead(503).end()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/readyz`;
  expect(await checkHealth(url, root)).toBe(1);
  server.close();
  await once(server, "close");
  expect(await checkHealth(url, root)).toBe(1);
});

async function checkHealth(url: string, cwd: string): Promise<number> {
  const [, command = ""] = /CMD (\[.*\])$/.exec(all("HEALTHCHECK")[0] ?? "") ?? [];
  const [, ...args] = JSON.parse(command) as string[];
  const env = { ...process.env, TOLLGATE_HEALTH_URL: url };
  const ended = promisify(execFile)(process.execPath, args, { cwd, env });
  return ended.then(
    () => 0,
    (error: { code: number }) => error.code,
  );
}

test("the image of the binary asks for its health as the other one does", async () => {
  const lines = (await readDeploy("Containerfile.binary")).split("\n");
  const [check] = lines.filter((line) => line.startsWith("HEALTHCHECK"));
  expect(check).toBe(
    `HEALTHCHECK ${all("HEALTHCHECK")[0]?.replace('"node", "bin/tollgate.js"', '"/usr/bin/tollgate"')}`,
  );
  expect(await parseCommand(["health"])).toMatchObject({ command: "health" });
});
