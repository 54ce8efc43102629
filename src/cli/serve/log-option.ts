import { Option } from "commander";

/** How a long-running command logs. */
export function logOption(): Option {
  return new Option("--log <format>", "how the log looks").choices(["json", "pretty"]).default("pretty");
}
