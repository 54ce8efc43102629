import type { Command } from "commander";
import { serverUrls } from "../shared/arguments.ts";
import type { Io } from "../shared/io.ts";

/** `tollgate init` */
export function addInit(program: Command, io: Io): void {
  program
    .command("init")
    .description("write a configuration file with the models that running inference servers list")
    .requiredOption("--server <url>", "an inference server; may be given several times", serverUrls)
    .option("--out <file>", "the file to write, which must not be there yet; printed unless set")
    .action(async ({ server, out }: { server: readonly string[]; out?: string }) => {
      const { init } = await import("./init.ts");
      await init(server, out, io);
    });
}
