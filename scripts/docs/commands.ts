import type { Argument, Command, Option } from "commander";
import { createProgram } from "#src/cli/program.ts";
import { answers, showFields } from "./answers.ts";
import { code, table } from "./markdown.ts";

const program = await createProgram({ environment: {}, print: () => {}, note: () => {}, progress: () => {} });

type Row = readonly [flags: string, about: string];

/** Every command with its options, in Markdown. What all commands have that ask a core stands before them, once. */
export function commandReference(): string {
  const commands = leaves(program);
  const common = commonOptions(commands.filter(asksCore));
  const sections = commands.map((command) => {
    const usage = [readName(command), ...command.registeredArguments.map(showArgument)].join(" ");
    const rows = command.options.map(rowOf);
    const own = asksCore(command) ? rows.filter((row) => !isAmong(common, row)) : rows;
    const about = command.description();
    const asks = asksCore(command) ? " It [asks a core](#commands-that-ask-a-core)." : "";
    const parts = [`### \`${usage}\``, `${about.charAt(0).toUpperCase()}${about.slice(1)}.${asks}`];
    const answer = asksCore(command) ? [showAnswer(command)] : [];
    return [...parts, ...(own.length > 0 ? [optionTable(own)] : []), ...answer].join("\n\n");
  });
  const intro = ["### Commands that ask a core", "All of them take these options.", optionTable(common)].join("\n\n");
  return [intro, ...sections].join("\n\n");
}

function showArgument(argument: Argument): string {
  return argument.required ? `<${argument.name()}>` : `[${argument.name()}]`;
}

/** The fields of a command's document. Throws for a command that has none in the list: people rely on their names. */
function showAnswer(command: Command): string {
  const name = readName(command).replace(/^tollgate /, "");
  const answer = answers[name];
  if (answer === undefined) {
    throw new Error(`scripts/docs/answers.ts does not say what ${name} prints`);
  }
  return `With \`--json\`: ${code(showFields(answer))}`;
}

const optionTable = (rows: readonly Row[]) => table(["option", "what it is"], rows);
const rowOf = (option: Option): Row => [code(option.flags), readAbout(option)];
const hasOption = ({ options }: Command, name: string) => options.some(({ long }) => long === name);
/** A facade has a core too, which it serves with; it prints no answer. */
const asksCore = (command: Command) => hasOption(command, "--core") && hasOption(command, "--json");
const isAmong = (rows: readonly Row[], [flags, about]: Row) => rows.some((row) => row[0] === flags && row[1] === about);

/** The options that all of these commands have, in the same words. */
function commonOptions(commands: readonly Command[]): Row[] {
  const [first = [], ...others] = commands.map(({ options }) => options.map(rowOf));
  return first.filter((row) => others.every((rows) => isAmong(rows, row)));
}

/** The commands that do something: a group that has options does, too. */
function leaves(command: Command): Command[] {
  const below = command.commands.flatMap(leaves);
  const acts = below.length === 0 || (command.parent !== null && command.options.length > 0);
  return acts ? [command, ...below] : below;
}

function readName(command: Command): string {
  return command.parent ? `${readName(command.parent)} ${command.name()}` : command.name();
}

function readAbout(option: Option): string {
  const choices = option.argChoices ? `; one of ${option.argChoices.map(code).join(", ")}` : "";
  const value = option.defaultValueDescription ?? option.defaultValue;
  const standard = value === undefined || String(value) === "" ? "" : `; ${code(String(value))} unless set`;
  return `${option.description}${choices}${option.mandatory ? "; needed" : standard}`;
}
