import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

const model = "tollgate-sim/plain";
const body = JSON.stringify({ model, max_tokens: 5, messages: [{ role: "user", content: "Hello" }] });

/** Of the folder that is the home; a space is in it, as there may be in a person's. */
export const homeName = "a home";

/** How it went. */
export interface Trial {
  /** From each start until it was ready. */
  readonly readyMs: readonly number[];
}

/** A service under trial that runs. */
export interface Running {
  /** Of its core, over gRPC. */
  readonly grpcUrl: string;
  readonly operatorToken: string;
  /** All that it has printed. */
  readonly output: string;
}

/**
 * Uses an installed program as a stranger does, in an empty folder with a home of its own: it serves both surfaces, bills, keeps
 * its data over a restart, ends with 0 on SIGTERM and proves its books. Throws at the first thing that is not so. `meanwhile` is done with it before it ends for good.
 */
export async function tryInstalled(
  command: readonly string[],
  folder: string,
  meanwhile: (service: Running) => Promise<void> = async () => {},
): Promise<Trial> {
  const home = join(folder, homeName);
  const cwd = join(folder, "empty");
  await Promise.all([home, cwd].map((path) => mkdir(path, { recursive: true })));
  const env = { PATH: process.env.PATH, HOME: home };
  const [program = "", ...before] = command;
  const admin = async (...args: string[]) => {
    const { stdout } = await promisify(execFile)(program, [...before, ...args, "--json"], { cwd, env });
    return JSON.parse(stdout);
  };

  const started: ChildProcess[] = [];
  /** What Node.js and the program have to say beside the log. */
  let complaints = "";

  /** Starts it as people do, or with a log for machines, and waits until it is ready. */
  async function start(log: "pretty" | "json") {
    const startedAt = performance.now();
    const child = spawn(program, [...before, "--port", "0", "--log", log], {
      cwd,
      env: { ...env, NO_COLOR: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    started.push(child);
    child.stderr.on("data", (data: Buffer) => {
      complaints += data;
      process.stderr.write(data);
    });
    const exited = once(child, "exit");
    exited.catch(() => {});
    let output = "";
    for await (const line of createInterface(child.stdout)) {
      output += `${line}\n`;
      if (line.includes("tollgate ready")) {
        child.stdout.resume();
        const readyMs = Math.round(performance.now() - startedAt);
        const { http, grpc } = JSON.parse(line.slice(line.indexOf("{")));
        return { child, exited, url: `http://${http}`, grpcUrl: `http://${grpc}`, readyMs, output };
      }
    }
    throw new Error(`ended with ${await exited} before it was ready: ${output}`);
  }

  async function stop({ child, exited }: Pick<Awaited<ReturnType<typeof start>>, "child" | "exited">) {
    child.kill("SIGTERM");
    expect("exit code", (await exited)[0], 0);
  }

  try {
    const first = await start("json");
    const data = join(home, ".local", "share", "tollgate");
    expect("mode of running.json", (await stat(join(data, "running.json"))).mode & 0o777, 0o600);
    const { key, accountId } = JSON.parse(await readFile(join(data, "demo-account.json"), "utf8"));
    const chat = await post(`${first.url}/v1/chat/completions`, { authorization: `Bearer ${key}` });
    expect("chat", chat.choices[0].finish_reason, "length");
    const message = await post(`${first.url}/v1/messages`, { "x-api-key": key, "anthropic-version": "2023-06-01" });
    expect("messages", message.stop_reason, "max_tokens");
    const { balance_usd: balance } = await admin("accounts", "show", accountId);
    // Both requests at the simulated model's 0.20 and 0.25 USD per 1M tokens.
    const tokens = { input: chat.usage.prompt_tokens + message.usage.input_tokens, output: 10 };
    const pico = 10n ** 12n - BigInt(tokens.input) * 200_000n - BigInt(tokens.output) * 250_000n;
    expect("balance", balance, `0.${String(pico).padStart(12, "0").replace(/0+$/, "")}`);
    expect("books", (await admin("reconcile")).ok, true);
    await stop(first);

    const second = await start("pretty");
    expect("balance after a restart", (await admin("accounts", "show", accountId)).balance_usd, balance);
    await post(`${second.url}/v1/chat/completions`, { authorization: `Bearer ${key}` });
    expect("books after a restart", (await admin("reconcile")).ok, true);
    await meanwhile({ ...second, operatorToken: await readFile(join(data, "operator-token"), "utf8") });
    await stop(second);
    expect("complaints", complaints, "");
    return { readyMs: [first.readyMs, second.readyMs] };
  } finally {
    for (const child of started) {
      child.kill("SIGKILL"); // one that ended is not there to be
    }
  }
}

// biome-ignore lint/suspicious/noExplicitAny: answers of two surfaces, whose fields are looked at one by one
async function post(url: string, headers: Record<string, string>): Promise<any> {
  const response = await fetch(url, { method: "POST", headers, body });
  expect(url, response.status, 200);
  return response.json();
}

function expect(what: string, is: unknown, wanted: unknown): void {
  if (is !== wanted) {
    throw new Error(`${what}: ${is}, not ${wanted}`);
  }
}
