import type { MigrationObject } from "@mikro-orm/core";
import { Migration20261126000018 } from "./Migration20261126000018.ts";
import { Migration20261130000001 } from "./Migration20261130000001.ts";

/** In the order in which they run. */
export const migrations: MigrationObject[] = [
  { name: "Migration20261126000018", class: Migration20261126000018 },
  { name: "Migration20261130000001", class: Migration20261130000001 },
];
