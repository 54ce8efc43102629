import type { Command } from "commander";

/** Adds the options for a core that serves over TLS. */
export function addTlsOptions(command: Command): Command {
  return command
    .option("--ca <file>", "speak TLS with the core, whose certificate this authority signed")
    .option("--cert <file>", "this client's certificate, for a core that demands one")
    .option("--cert-key <file>", "its private key");
}
