import type { MigrationObject } from "@mikro-orm/core";
import { Migration20261125000000 } from "./Migration20261125000000.ts";
import { Migration20261126000003 } from "./Migration20261126000003.ts";

/** In the order in which they run. */
export const migrations: MigrationObject[] = [
  { name: "Migration20261125000000", class: Migration20261125000000 },
  { name: "Migration20261126000003", class: Migration20261126000003 },
];
