import type { Command, Option } from "commander";
import { createProgram } from "../../src/cli/program.ts";
import { code, table } from "./markdown.ts";

const program = await createProgram({ environment: {}, print: () => {}, note: () => {} });

/** Every command with its options, in Markdown. */
export function commandReference(): string {
  return leaves(program)
    .map((command) => {
      const usage = [nameOf(command), ...command.registeredArguments.map((argument) => `<${argument.name()}>`)].join(
        " ",
      );
      const options = command.options.map((option) => [code(option.flags), aboutOf(option)]);
      const about = command.description();
      const parts = [`### \`${usage}\``, `${about.charAt(0).toUpperCase()}${about.slice(1)}.`];
      if (options.length > 0) {
        parts.push(table(["option", "what it is"], options));
      }
      return parts.join("\n\n");
    })
    .join("\n\n");
}

function leaves(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
}

function nameOf(command: Command): string {
  return command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();
}

function aboutOf(option: Option): string {
  const choices = option.argChoices ? `; one of ${option.argChoices.map(code).join(", ")}` : "";
  const value = option.defaultValueDescription ?? option.defaultValue;
  const standard = value === undefined ? "" : `; ${code(String(value))} unless set`;
  return `${option.description}${choices}${option.mandatory ? "; needed" : standard}`;
}
