#!/usr/bin/env node
// Starts the program. In the npm package it is JavaScript in dist/, and runs on this Node.js. In a clone it is the same as long as
// the sources are those that dist was built of, else src/main.ts; a Node.js that is too old for it hands over to the one that the
// project brings along. SQLite of Node.js releases before 22.23.3 can corrupt a write-ahead log; those before 24 do not run
// TypeScript as it is.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import * as module from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isBuilt } from "./built.js";
import { compileCacheFolder } from "./compile-cache.js";

const root = fileURLToPath(new URL("../", import.meta.url));
const isClone = existsSync(join(root, "src", "main.ts"));
const runsSources = isClone && !isBuilt(root);
const main = new URL(runsSources ? "../src/main.ts" : "../dist/src/main.js", import.meta.url);
const oldest = runsSources ? [24, 0, 0] : [22, 23, 3];
const signals = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"];

if (process.env.npm_command !== undefined) {
  endWithNpm();
}
if (runsSources && !existsSync(join(root, "node_modules", "esbuild"))) {
  fail("this clone has not the packages that its sources need: run `npm ci`, with those for development, once");
}
if (isNewEnough()) {
  const cache = compileCacheFolder(process.env);
  if (cache !== undefined) {
    module.enableCompileCache?.(cache);
  }
  await import(main.href);
} else if (isClone) {
  handOver();
} else {
  fail(`Node.js ${oldest.join(".")} or newer is needed, and this is ${process.version}: see https://nodejs.org`);
}

function isNewEnough() {
  const parts = process.versions.node.split(".").map(Number);
  const at = oldest.findIndex((part, index) => part !== parts[index]);
  return at === -1 || parts[at] > oldest[at];
}

/** Lives as long as the project's own Node.js does, passes signals on to it, and ends as it ended. */
function handOver() {
  const node = projectNode();
  const cache = compileCacheFolder(process.env);
  const child = spawn(node, [fileURLToPath(main), ...process.argv.slice(2)], {
    env: { ...(cache !== undefined && { NODE_COMPILE_CACHE: cache }), ...process.env },
    // When this process is killed the channel closes, which is how the other one learns of it.
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    // In a group of its own, so that Ctrl-C reaches it once, through here.
    detached: true,
  });
  for (const signal of signals) {
    process.on(signal, () => child.kill(signal));
  }
  child.once("error", (error) => fail(`${node} cannot be started: ${error.message}`));
  child.once("exit", (code, signal) => {
    for (const one of signals) {
      process.removeAllListeners(one);
    }
    if (signal === null) {
      process.exit(code);
    }
    process.kill(process.pid, signal);
  });
}

function projectNode() {
  try {
    return fileURLToPath(import.meta.resolve("node/bin/node"));
  } catch {
    return fail(`Node.js ${oldest.join(".")} is needed, and this is ${process.version}: run \`npm ci\` for one`);
  }
}

function fail(reason) {
  console.error(`tollgate: ${reason}`);
  process.exit(1);
}

/**
 * npm and npx pass a SIGTERM on to the shell between them and this process, and the shell dies of it
 * without a word. So whoever stops npm means this process, which sees that it was left alone.
 */
function endWithNpm() {
  const [shell, npm] = parents();
  const watch = setInterval(() => {
    const [parent, grandparent] = parents();
    if (parent !== shell || grandparent !== npm) {
      process.kill(process.pid, "SIGTERM");
    }
  }, 100);
  watch.unref();
  for (const signal of signals) {
    process.once(signal, () => hear(signal));
  }

  /**
   * A signal that went to the whole group is not to come twice; one that nobody else handles ends the process.
   * SIGHUP asks for a reload alone, after which npm is to be watched as before.
   */
  function hear(signal) {
    if (signal !== "SIGHUP") {
      clearInterval(watch);
    }
    if (process.listenerCount(signal) === 0) {
      process.kill(process.pid, signal);
    }
  }
}

/** The ids of the parent and, where the system tells, of its parent. */
function parents() {
  try {
    const status = readFileSync(`/proc/${process.ppid}/stat`, "latin1");
    return [process.ppid, Number(status.slice(status.lastIndexOf(")") + 2).split(" ")[1])];
  } catch {
    return [process.ppid, undefined];
  }
}
