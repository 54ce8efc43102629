import type { Tables } from "./statement.ts";

/** How many rows a core's epoch has: 1 or 0. */
export const countEpoch = (tables: Tables, core: unknown, epoch: unknown) =>
  tables.all("select 1 from core where id = ? and epoch = ?", String(core), Number(epoch)).length;
