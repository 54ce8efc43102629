import type { MigrationObject } from "@mikro-orm/core";
import { Migration20261126000018 } from "./Migration20261126000018.ts";

/** In the order in which they run. */
export const migrations: MigrationObject[] = [{ name: "Migration20261126000018", class: Migration20261126000018 }];
