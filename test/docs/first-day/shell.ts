import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { createSite, program, type Site } from "../../support/tollgate.ts";

/** Runs commands as a page has them, in a folder of its own, where `npx tollgate` is the program under test. */
export class Shell {
  readonly site: Site;
  readonly #running: ChildProcess[] = [];
  /** What earlier commands have exported. */
  #exports = "";

  private constructor(site: Site) {
    this.site = site;
  }

  static async open(): Promise<Shell> {
    const site = await createSite();
    const bin = join(site.folder, "bin");
    await mkdir(bin);
    const npx = `#!/bin/sh\nshift\nexec ${JSON.stringify(process.execPath)} ${JSON.stringify(program)} "$@"\n`;
    await writeFile(join(bin, "npx"), npx, { mode: 0o755 });
    site.env.PATH = `${bin}${delimiter}${process.env.PATH}`;
    return new Shell(site);
  }

  /** Starts what keeps running. It is over with the shell. */
  start(command: string): void {
    this.#running.push(this.#spawn(command));
  }

  /** Runs a command to its end. Throws with what it said if it fails. */
  async run(command: string): Promise<string> {
    const child = this.#spawn(command);
    const said: string[] = [];
    child.stdout?.on("data", (data: Buffer) => said.push(data.toString()));
    child.stderr?.on("data", (data: Buffer) => said.push(data.toString()));
    const [code] = await once(child, "close");
    if (code !== 0) {
      throw new Error(`${command} ended with ${code}:\n${said.join("")}`);
    }
    return said.join("");
  }

  async close(): Promise<void> {
    for (const child of this.#running) {
      const ended = child.exitCode === null && child.signalCode === null ? once(child, "close") : undefined;
      child.stdout?.resume();
      child.stderr?.resume();
      // The shell and what it has started.
      ended && process.kill(-(child.pid ?? 0), "SIGTERM");
      await ended;
    }
    await this.site.remove();
  }

  #spawn(command: string): ChildProcess {
    const text = this.#exports + command;
    this.#exports += command
      .split("\n")
      .filter((line) => line.startsWith("export "))
      .map((line) => `${line}\n`)
      .join("");
    const { folder, env } = this.site;
    return spawn("sh", ["-c", text], { cwd: folder, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  }
}
