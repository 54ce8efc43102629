import type { MigrationObject } from "@mikro-orm/core";
import { Migration20261125000000 } from "./Migration20261125000000.ts";
import { Migration20261126000002 } from "./Migration20261126000002.ts";
import { Migration20261126000003 } from "./Migration20261126000003.ts";
import { Migration20261126000004 } from "./Migration20261126000004.ts";
import { Migration20261126000005 } from "./Migration20261126000005.ts";
import { Migration20261126000006 } from "./Migration20261126000006.ts";
import { Migration20261126000007 } from "./Migration20261126000007.ts";
import { Migration20261126000008 } from "./Migration20261126000008.ts";
import { Migration20261126000009 } from "./Migration20261126000009.ts";
import { Migration20261126000010 } from "./Migration20261126000010.ts";
import { Migration20261126000011 } from "./Migration20261126000011.ts";
import { Migration20261126000012 } from "./Migration20261126000012.ts";
import { Migration20261126000013 } from "./Migration20261126000013.ts";
import { Migration20261126000014 } from "./Migration20261126000014.ts";
import { Migration20261126000015 } from "./Migration20261126000015.ts";
import { Migration20261126000016 } from "./Migration20261126000016.ts";
import { Migration20261126000017 } from "./Migration20261126000017.ts";
import { Migration20261126000018 } from "./Migration20261126000018.ts";

/** In the order in which they run. */
export const migrations: MigrationObject[] = [
  { name: "Migration20261125000000", class: Migration20261125000000 },
  { name: "Migration20261126000002", class: Migration20261126000002 },
  { name: "Migration20261126000003", class: Migration20261126000003 },
  { name: "Migration20261126000004", class: Migration20261126000004 },
  { name: "Migration20261126000005", class: Migration20261126000005 },
  { name: "Migration20261126000006", class: Migration20261126000006 },
  { name: "Migration20261126000007", class: Migration20261126000007 },
  { name: "Migration20261126000008", class: Migration20261126000008 },
  { name: "Migration20261126000009", class: Migration20261126000009 },
  { name: "Migration20261126000010", class: Migration20261126000010 },
  { name: "Migration20261126000011", class: Migration20261126000011 },
  { name: "Migration20261126000012", class: Migration20261126000012 },
  { name: "Migration20261126000013", class: Migration20261126000013 },
  { name: "Migration20261126000014", class: Migration20261126000014 },
  { name: "Migration20261126000015", class: Migration20261126000015 },
  { name: "Migration20261126000016", class: Migration20261126000016 },
  { name: "Migration20261126000017", class: Migration20261126000017 },
  { name: "Migration20261126000018", class: Migration20261126000018 },
];
