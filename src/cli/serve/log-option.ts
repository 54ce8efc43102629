import { InvalidArgumentError, Option } from "commander";

const formats = ["json", "pretty", "auto"];

/** The option for the log's format of a long-running command. */
export function logOption(): Option {
  const about = "how the log looks; auto is pretty at a terminal, and JSON elsewhere";
  return new Option("--log <format>", about).choices(formats).default("pretty").argParser(parseFormat);
}

function parseFormat(text: string): string {
  if (!formats.includes(text)) {
    throw new InvalidArgumentError(`Allowed choices are ${formats.join(", ")}.`);
  }
  const atTerminal = process.stdout.isTTY ? "pretty" : "json";
  return text === "auto" ? atTerminal : text;
}
