import type { Command } from "commander";
import { renderText } from "../admin/output/render.ts";
import type { Io } from "../shared/io.ts";

/** What a backup does not have, and a restored service needs. */
const apart =
  "The key pepper and the operators' token are not in it: keep them apart, and give them to what is restored.";

/** `tollgate backup` */
export function addBackup(program: Command, io: Io): void {
  program
    .command("backup <file>")
    .description(
      "write books and accounts to a file, also while cores run; of both databases, to the same kind of file",
    )
    .option("--config <file>", "the configuration file; the defaults unless set")
    .action(async (file: string, { config }: { config?: string }) => {
      const { backup } = await import("./backup.ts");
      io.print(renderText(await backup(file, config, io)));
      io.note(apart);
    });
}

/** `tollgate restore` */
export function addRestore(program: Command, io: Io): void {
  program
    .command("restore <file>")
    .description("put a backup into an empty data directory or database, while no core runs")
    .option("--config <file>", "the configuration file; the defaults unless set")
    .action(async (file: string, { config }: { config?: string }) => {
      const { restore } = await import("./restore.ts");
      io.print(renderText(await restore(file, config, io)));
      io.note(apart);
    });
}
