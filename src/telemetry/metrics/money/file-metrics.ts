import { Gauge, type Registry } from "prom-client";

/** Shows at every scrape whether a SQLite database's file is where it was opened. */
export function watchFile(registry: Registry, isLost: () => boolean): void {
  new Gauge({
    name: "tollgate_database_file_lost",
    help: "Whether the file of the SQLite database was moved, replaced or deleted while this process has it open: 1 or 0.",
    registers: [registry],
    collect() {
      this.set(isLost() ? 1 : 0);
    },
  });
}
