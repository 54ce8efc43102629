import type { MigrationObject } from "@mikro-orm/core";
import { Migration20261121000000 } from "./Migration20261121000000.ts";
import { Migration20261121041000 } from "./Migration20261121041000.ts";
import { Migration20261122010000 } from "./Migration20261122010000.ts";
import { Migration20261122020000 } from "./Migration20261122020000.ts";
import { Migration20261122030000 } from "./Migration20261122030000.ts";
import { Migration20261122030100 } from "./Migration20261122030100.ts";
import { Migration20261122040000 } from "./Migration20261122040000.ts";
import { Migration20261122041000 } from "./Migration20261122041000.ts";
import { Migration20261122060000 } from "./Migration20261122060000.ts";
import { Migration20261122070000 } from "./Migration20261122070000.ts";
import { Migration20261122071000 } from "./Migration20261122071000.ts";
import { Migration20261122080000 } from "./Migration20261122080000.ts";
import { Migration20261122080100 } from "./Migration20261122080100.ts";
import { Migration20261122090000 } from "./Migration20261122090000.ts";
import { Migration20261122090100 } from "./Migration20261122090100.ts";
import { Migration20261122090200 } from "./Migration20261122090200.ts";
import { Migration20261122094900 } from "./Migration20261122094900.ts";
import { Migration20261122110000 } from "./Migration20261122110000.ts";
import { Migration20261122120000 } from "./Migration20261122120000.ts";
import { Migration20261122131600 } from "./Migration20261122131600.ts";
import { Migration20261122140000 } from "./Migration20261122140000.ts";

/** In the order in which they run. */
export const migrations: MigrationObject[] = [
  { name: "Migration20261121000000", class: Migration20261121000000 },
  { name: "Migration20261121041000", class: Migration20261121041000 },
  { name: "Migration20261122010000", class: Migration20261122010000 },
  { name: "Migration20261122030000", class: Migration20261122030000 },
  { name: "Migration20261122030100", class: Migration20261122030100 },
  { name: "Migration20261122040000", class: Migration20261122040000 },
  { name: "Migration20261122041000", class: Migration20261122041000 },
  { name: "Migration20261122020000", class: Migration20261122020000 },
  { name: "Migration20261122060000", class: Migration20261122060000 },
  { name: "Migration20261122080000", class: Migration20261122080000 },
  { name: "Migration20261122080100", class: Migration20261122080100 },
  { name: "Migration20261122090000", class: Migration20261122090000 },
  { name: "Migration20261122070000", class: Migration20261122070000 },
  { name: "Migration20261122090100", class: Migration20261122090100 },
  { name: "Migration20261122071000", class: Migration20261122071000 },
  { name: "Migration20261122090200", class: Migration20261122090200 },
  { name: "Migration20261122094900", class: Migration20261122094900 },
  { name: "Migration20261122110000", class: Migration20261122110000 },
  { name: "Migration20261122120000", class: Migration20261122120000 },
  { name: "Migration20261122131600", class: Migration20261122131600 },
  { name: "Migration20261122140000", class: Migration20261122140000 },
];
