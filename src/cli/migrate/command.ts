import type { Command } from "commander";
import { renderJson, renderText } from "../admin/output/render.ts";
import type { Io } from "../shared/io.ts";

interface Options {
  readonly from: string;
  readonly to: string;
  readonly json?: boolean;
}

/** `tollgate migrate-storage` */
export function addMigrateStorage(program: Command, io: Io): void {
  program
    .command("migrate-storage")
    .description("copy everything from SQLite to an empty PostgreSQL while no core runs, and prove both books")
    .requiredOption("--from <url>", "such as sqlite:data/tollgate.db")
    .requiredOption("--to <url>", "such as postgresql://user@host/database")
    .option("--json", "print one JSON document")
    .action(async ({ from, to, json }: Options) => {
      const { migrateStorage } = await import("./migrate-storage.ts");
      const answer = await migrateStorage(from, to, io);
      io.print(json ? renderJson(answer) : renderText(answer));
    });
}
