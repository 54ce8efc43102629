import type { Tables } from "./statement.ts";

/** The rows of a core's epoch, 1 or 0. */
export const countEpoch = (tables: Tables, core: unknown, epoch: unknown) =>
  tables.all("select 1 from core where id = ? and epoch = ?", String(core), Number(epoch)).length;
