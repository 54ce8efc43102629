import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { access, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { createSite, freeBasePort, runTollgate, type Site } from "../../support/tollgate.ts";

// What a stranger does and sees in the first minute: no command, no configuration, and what is printed is pasted elsewhere.

// Every step starts the program, which a busy machine takes its time for.
jest.setTimeout(120_000);

const program = fileURLToPath(new URL("../../../bin/tollgate.js", import.meta.url));

let site: Site;
let port: number;
let child: ChildProcess;
let output = "";
beforeAll(async () => {
  site = await createSite({ TOLLGATE_DATA_DIR: undefined, NO_COLOR: "1" });
  port = await freeBasePort();
  await start();
});
afterAll(async () => {
  child?.kill("SIGKILL");
  await site?.remove();
});

/** Starts `tollgate --port P`, without a command, and waits for its ready line. */
async function start(): Promise<void> {
  output = "";
  child = spawn(process.execPath, [program, "--port", String(port)], {
    cwd: site.folder,
    env: site.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stderr?.on("data", (data: Buffer) => {
    output += data;
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on("data", (data: Buffer) => {
      output += data;
      if (output.includes("tollgate ready")) {
        resolve();
      }
    });
    child.once("exit", () => reject(new Error(output)));
  });
}

const inData = (name: string) => join(site.folder, "data", name);

/** Runs what a person copied, in a shell that knows nothing of this one. */
const paste = (line: string) =>
  promisify(execFile)("sh", ["-c", line], { cwd: "/", env: { PATH: process.env.PATH, HOME: process.env.HOME } });

test("options without a command serve, on ports that follow one another", async () => {
  const running = JSON.parse(await readFile(inData("running.json"), "utf8"));
  expect(running).toEqual({
    pid: child.pid,
    host: expect.any(String),
    http: `127.0.0.1:${port}`,
    console: `127.0.0.1:${port + 1}`,
    grpc: `127.0.0.1:${port + 2}`,
    connect: `127.0.0.1:${port + 3}`,
    admin: `127.0.0.1:${port + 4}`,
  });
  expect((await stat(inData("running.json"))).mode & 0o777).toBe(0o600);
  expect(output).toContain(inData(""));
});

test("the welcome is not mixed with lines about what the start did itself", () => {
  expect(output).toMatch(/^ +data +\/.*\n +console +http:.*\n\nTry it:$/m);
  expect(output.slice(0, output.indexOf("Try it:"))).not.toContain("call {");
});

test("every line of the welcome works when it is pasted into another shell", async () => {
  const curl = /^ +(curl .*\\\n.*)$/m.exec(output)?.[1];
  expect((await paste(String(curl))).stdout).toContain("data: [DONE]");
  const [, shown] = /^ +(.* accounts show .*)$/m.exec(output) ?? [];
  const { stdout } = await paste(`${shown} --json`);
  expect(JSON.parse(stdout)).toMatchObject({ name: "demo", balance_usd: expect.stringMatching(/^0\.99/) });
});

test("the printed link opens the console once, and the command makes another", async () => {
  const [, printed = ""] = /^ +console +(http:\S+\/link\/\S+)$/m.exec(output) ?? [];
  const follow = (url: string) => fetch(url, { redirect: "manual" });
  const roleAfter = async (response: Response) => {
    const cookie = response.headers.getSetCookie()[0]?.split(";", 1)[0] ?? "";
    const headers = { cookie, "sec-fetch-site": "same-origin" };
    const session = await fetch(`http://127.0.0.1:${port + 1}/session`, { headers });
    return ((await session.json()) as { role: string }).role;
  };
  expect(await roleAfter(await follow(printed))).toBe("owner");
  expect((await follow(printed)).status).toBe(410);
  const { stdout } = await runTollgate(site, "console-link", "--role", "reader", "--json");
  expect(await roleAfter(await follow((JSON.parse(stdout) as { url: string }).url))).toBe("reader");
});

test("an admin command finds the core through the data directory, and --core wins", async () => {
  const { stdout } = await runTollgate(site, "accounts", "list", "--json");
  expect(JSON.parse(stdout)).toMatchObject([{ name: "demo" }]);
  await expect(runTollgate(site, "accounts", "list", "--core", "127.0.0.1:1")).rejects.toMatchObject({
    stderr: expect.stringContaining("no core answers at 127.0.0.1:1"),
  });
});

test("a second start on the same data directory says that the first one runs", async () => {
  await expect(runTollgate(site, "--port", String(port))).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      new RegExp(
        `Port ${port + 4} is that of the Tollgate that already runs on this data .*process ${child.pid}.*--port`,
      ),
    ),
  });
});

test("ports of a Tollgate of another data directory are named, and ones that are free", async () => {
  const other = await createSite();
  try {
    const refused = await runTollgate(other, "--port", String(port)).then(
      () => "",
      ({ stderr }: { stderr: string }) => stderr,
    );
    expect(refused).toContain(`Port ${port + 4} is taken by a Tollgate of another data directory: start with --port`);
    const [, free] = /such as --port (\d+)/.exec(refused) ?? [];
    expect(Number(free)).toBeGreaterThan(port);
  } finally {
    await other.remove();
  }
});

test("a core that was killed is told from one that runs", async () => {
  child.kill("SIGKILL");
  await once(child, "exit");
  await expect(runTollgate(site, "accounts", "list")).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`${inData("running.json")} is stale: the core that it names (process ${child.pid}`),
  });
});

test("a start after that keeps the account, and SIGTERM ends it with 0 and nothing left behind", async () => {
  const [account] = /account +(\S+)/.exec(output) ?? [];
  await start();
  expect(output).toContain(account);
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
  await expect(access(inData("running.json"))).rejects.toThrow("ENOENT");
});

test.each([
  [["--port", "65531"], "It must be a port, 0 to 65530"],
  [["--prot", "1"], "unknown option '--prot'"],
])("%j without a command is refused with a reason", async (args, reason) => {
  await expect(runTollgate(site, ...args)).rejects.toMatchObject({ stderr: expect.stringContaining(reason) });
});
