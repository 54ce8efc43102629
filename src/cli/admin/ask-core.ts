import { resolve } from "node:path";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import type { Command } from "commander";
import { readDetail } from "#lib/errors/detail.ts";
import { bareHost, isLoopback, parseAddress, reachable } from "#lib/net/address.ts";
import { answeredIdHeader } from "#lib/rpc/call-headers.ts";
import { applyWorkarounds } from "#src/compose/process/workarounds.ts";
import { ConfigError } from "#src/config/config-error.ts";
import { readDataDir } from "#src/config/data-dir/data-dir.ts";
import { isAlive, readRunning, runningFile } from "#src/config/data-dir/running-core.ts";
import type { Environment } from "#src/config/environment.ts";
import { readOperatorToken } from "#src/config/secrets/secrets.ts";
import { type ClientTlsFiles, readClientTls } from "#src/config/tls/client-tls.ts";
import { createChannelTransport } from "#src/wire/grpc/client/channel-transport.ts";
import { createTlsCredentials } from "#src/wire/grpc/workarounds/tls-server-name.ts";
import { coreTarget } from "../shared/arguments.ts";
import type { Io } from "../shared/io.ts";
import { whileWaiting } from "../shared/progress.ts";
import { addTlsOptions } from "../shared/tls-options.ts";
import { Age } from "./age.ts";
import { type Document, renderJson, renderText } from "./output/render.ts";
import { resolveNames } from "./resolve.ts";

const callTimeoutMs = 60_000;

/** A command that asks a running core and prints the answer. */
export interface Question<Args extends readonly unknown[], Options> {
  readonly description: string;
  /** Adds the command's own arguments and options. */
  readonly options?: (command: Command) => unknown;
  /**
   * Calls the core. A text is printed as it is. The message of a thrown error is the reason that the command fails with.
   */
  readonly ask: (core: Transport, options: Options, ...args: Args) => Promise<Document | string>;
  /** Absent: the answer comes within a minute, and people are told that the core works on it. */
  readonly tellsProgress?: true;
  /** The answer as people read it, where that is another than programs do. */
  readonly show?: (answer: Document) => Document;
  /** A note for people, printed besides the answer. */
  readonly note?: string;
  /** Returns why the command fails although there is an answer to print. Undefined: it does not fail. */
  readonly refuse?: (answer: Document) => string | undefined;
}

interface CoreOptions extends ClientTlsFiles {
  /** Default: the core that runs on the data directory, otherwise the usual address. */
  readonly core?: string;
  /** Allows sending the operator token without TLS. */
  readonly insecure?: boolean;
  readonly json?: boolean;
  readonly wide?: boolean;
}

/** Adds a command that asks a core, and returns it. */
export function addQuestion<Args extends readonly unknown[], Options>(
  group: Command,
  usage: string,
  io: Io,
  question: Question<Args, Options>,
): Command {
  const command = group
    .command(usage)
    .description(question.description)
    .option(
      "--core <target>",
      "the core to ask; the one that runs on the data directory, or 127.0.0.1:50051, unless set",
      coreTarget,
    )
    .option("--insecure", "send the operator token without TLS to a core on another machine")
    .option("--json", "print one JSON document")
    .option("--wide", "print tables with all their columns, however wide; 100 characters unless set");
  addTlsOptions(command);
  question.options?.(command);
  command.action(async () => {
    const options = command.opts<Options & CoreOptions>();
    const answer = await withCore(options, io, (core, target) => {
      const asked = async () => {
        const named = await resolveNames(core, command, options);
        return question.ask(core, named.options, ...(named.args as unknown as Args));
      };
      return question.tellsProgress
        ? asked()
        : whileWaiting(`the core at ${target} works on it`, callTimeoutMs, io, asked);
    });
    if (typeof answer === "string") {
      io.print(answer);
      return;
    }
    io.print(options.json ? renderJson(answer) : renderText(question.show?.(answer) ?? answer, options));
    if (question.note !== undefined && !options.json) {
      io.note(question.note);
    }
    const refusal = question.refuse?.(answer);
    if (refusal !== undefined) {
      throw new Error(refusal);
    }
  });
  return command;
}

async function withCore<T>(
  options: CoreOptions,
  io: Io,
  call: (core: Transport, target: string) => Promise<T>,
): Promise<T> {
  const target = options.core ?? (await findCore(io.environment));
  if (options.ca === undefined && !options.insecure && !isLocal(target)) {
    throw new Error(
      `${target} is not this machine, and without TLS anybody on the way could read the operator token: name the core's authority with --ca, or allow it with --insecure`,
    );
  }
  const token = await readOperatorToken(io.environment);
  applyWorkarounds();
  const tls = await readClientTls(options);
  const core = createChannelTransport({
    target,
    ...(tls && { credentials: createTlsCredentials(tls) }),
  });
  try {
    const age = new Age();
    const answer = await call(withDefaults(core, token, age), target);
    age.tell(io);
    return answer;
  } catch (error) {
    throw explained(error, target);
  } finally {
    core.close();
  }
}

/** The usual address of a core on this machine. */
const usualCore = "127.0.0.1:50051";

/**
 * The address of the core that runs on the data directory, otherwise the usual one. Throws ConfigError when that core
 * is gone.
 */
async function findCore(environment: Environment): Promise<string> {
  const dataDir = await readDataDir(environment);
  const running = await readRunning(dataDir);
  if (running === undefined) {
    return usualCore;
  }
  if (!isAlive(running)) {
    throw new ConfigError(
      `${resolve(runningFile(dataDir))} is stale: the core that it names (process ${running.pid}, ${running.grpc}) was killed. Start it again, or name another one with --core`,
    );
  }
  return reachable(running.grpc);
}

/** Whether all addresses of a target are on this machine. */
function isLocal(target: string): boolean {
  if (target.startsWith("unix:")) {
    return true;
  }
  const addresses = target.replace(/^(dns:(\/\/[^/]*\/)?|ipv4:|ipv6:)/, "").split(",");
  return addresses.every((address) => {
    const { host } = parseAddress(address) ?? { host: bareHost(address) };
    return isLoopback(host);
  });
}

/**
 * Sends the token, and waits no longer than the timeout. The header is a plain object rather than an interceptor's
 * Headers, because the first Headers of a process loads fetch.
 */
function withDefaults(core: Transport, token: string, age: Age): Transport {
  const header = { authorization: `Bearer ${token}` };
  return {
    async unary(method, signal, timeoutMs = callTimeoutMs, _, ...rest) {
      const answer = await core.unary(method, signal, timeoutMs, header, ...rest);
      age.note(answer.message);
      return answer;
    },
    async stream(method, signal, timeoutMs = callTimeoutMs, _, ...rest) {
      const answer = await core.stream(method, signal, timeoutMs, header, ...rest);
      return Object.assign(answer, { message: age.noteAll(answer.message) });
    },
  };
}

function explained(error: unknown, target: string): unknown {
  if (!(error instanceof ConnectError)) {
    return error;
  }
  if (error.code === Code.Unavailable && !readDetail(error)) {
    return new Error(
      `no core answers at ${target} (${lastCause(error.rawMessage)}): start one, name it with --core, or speak TLS with --ca if it does`,
    );
  }
  const id = error.metadata.get(answeredIdHeader);
  const named = id === null ? "" : ` (request ${id})`;
  if (error.code === Code.Unauthenticated) {
    return new Error(
      `the core at ${target} refuses the operator token${named}: set TOLLGATE_OPERATOR_TOKEN to its token, or TOLLGATE_DATA_DIR to its data directory`,
    );
  }
  return new Error(`${error.rawMessage}${named}`);
}

/** grpc-js lists all its attempts. Only the result of the last one matters. */
function lastCause(message: string): string {
  return message
    .replace(/^.*Last error: (Error: )?/s, "")
    .replace(/\.? Resolution note:.*$/s, "")
    .replace(/\s+/g, " ");
}
