import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
/** Has a process say at its end, in a line of its own, of which packages it has loaded modules. */
const tellPackages = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module";
  const packages = new Set();
  registerHooks({
    load(url, context, next) {
      packages.add(/.*node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1]);
      return next(url, context);
    },
  });
  process.on("exit", () => process.stderr.write("\\n" + JSON.stringify([...packages])));`)}`;

/** The packages that a command loads until it has found no core. */
async function packagesOf(command: readonly string[]): Promise<string[]> {
  const args = ["--import", tellPackages, main, ...command];
  const stderr = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, { env: { PATH: process.env.PATH } }, (_error, _stdout, stderr) => resolve(stderr));
  });
  return JSON.parse(stderr.slice(stderr.lastIndexOf("\n")));
}

test.each(["--version", "accounts list", "keys list acct_x", "usage", "reconcile"])(
  "%s loads no schema, no ORM and no server: it only asks a core",
  async (command) => {
    const isAsking = command !== "--version";
    const loaded = await packagesOf([...command.split(" "), ...(isAsking ? ["--core", "127.0.0.1:1"] : [])]);
    expect(loaded).toContain("commander");
    expect(loaded.includes("@connectrpc/connect")).toBe(isAsking);
    expect(loaded.filter((name) => /^(zod|koa|@koa|@mikro-orm|pg|prom-client|pino)/.test(name ?? ""))).toEqual([]);
  },
);
