import { Command, CommanderError } from "commander";
import { readPackaged } from "#lib/files/assets.ts";
import { ConfigError } from "#src/config/config-error.ts";
import { Misfit } from "#src/money/books/bill/check/misfit.ts";
import { commandGroups, showExamples } from "./commands.ts";
import type { Io } from "./shared/io.ts";

/** Runs a command line, without the program's name. Returns the exit code: 0 only on success. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  try {
    const words = withCommand(args);
    const program = await createProgram(io, words[0]);
    await program.parseAsync(words, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) {
      return error.exitCode; // commander has printed the reason
    }
    // Lines of such errors begin with the file or the line, where editors, people and scripts look for them.
    io.note(error instanceof ConfigError || error instanceof Misfit ? error.message : `tollgate: ${toReason(error)}`);
    return 1;
  }
}

/**
 * Whether a command line starts a long-running process. Code that it loads should not cost memory for good; for other
 * commands that would only cost time.
 */
export function stays(args: readonly string[]): boolean {
  return ["serve", "core", "facade"].includes(withCommand(args)[0] ?? "");
}

/** A command line that begins with an option is one of `serve`. An unknown word is refused as a command. */
function withCommand(args: readonly string[]): readonly string[] {
  const [first = "--"] = args;
  const isAnswered = ["--help", "-h", "--version", "-V"].includes(first);
  return first.startsWith("-") && !isAnswered ? ["serve", ...args] : args;
}

function toReason(error: unknown): string {
  if (!(error instanceof Error)) {
    return String(error);
  }
  const { code, address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  if (code === "EADDRINUSE") {
    return `${address}:${port} is taken by another process: end that one, or listen elsewhere`;
  }
  const { message, cause } = error;
  return cause instanceof Error && !message.includes(cause.message) ? `${message} (${cause.message})` : message;
}

/**
 * Builds the command line. Given a known command as its first word, loads only that command, which saves loading the
 * others. Otherwise loads all.
 */
export async function createProgram(io: Io, word?: string): Promise<Command> {
  const program = new Command("tollgate")
    .description("A metered proxy for open-source models.")
    .version(readVersion())
    .enablePositionalOptions() // a command's options are not those of its subcommands
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.print(text.trimEnd()),
      writeErr: (text) => io.note(text.trimEnd()),
    });
  if (word === "--version" || word === "-V") {
    return program;
  }
  const isKnown = commandGroups.some(({ commands }) => Object.hasOwn(commands, word ?? ""));
  for (const { title, commands } of commandGroups) {
    program.commandsGroup(`${title}:`);
    const wanted = Object.entries(commands).filter(([name]) => !isKnown || name === word);
    for (const add of await Promise.all(wanted.map(([, load]) => load()))) {
      add(program, io);
    }
  }
  program.helpCommand("help [command]", "tell how a command is used");
  return program.addHelpText("after", showExamples());
}

function readVersion(): string {
  return (JSON.parse(readPackaged("package.json")) as { version: string }).version;
}
